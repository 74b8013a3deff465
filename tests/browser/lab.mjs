// lab.mjs TOOLS DIBS PAGE: the laboratory in a short hand: what every change has to pass (tests/page.sh). A phone, the keyboard
// alone, forks, files, counters, a long run, the checker, accessibility. page.mjs looks at everything else.
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { accessible, choose, end, native, open, phone, tabTo, tell, text, until } from './tools.mjs';

const scenarios = new URL('../scenario/', import.meta.url);
const openFile = (page, name, content) => page.setInputFiles('#controls input[type="file"]', { name, mimeType: 'text/plain', buffer: Buffer.from(content) });

// ------------------------------------------------------------------------------------------------------------ a phone

let page = await open('', { ...phone, colorScheme: 'dark', bypassCSP: true });
await page.tap('[data-site="0"]');
await page.tap('.menu >> text="Request"');
await tell(async () => await page.locator('.message').count() === 2, 'phone: a tap on a site, and it requests');
for (let k = 0; k < 4; k++) {
  await page.tap('.message:not(.gone) >> nth=0');
  await page.tap('.menu >> text="Deliver"');
}
await tell(async () => await page.locator('.site.inside').count() === 1 && /1 entry, 4 messages/.test(await text(page, '#controls')), 'phone: taps deliver messages, and the site enters', await text(page, '#controls'));
await page.tap('.message, [data-site="1"]');
const menu = await page.locator('.menu').boundingBox();
await tell(async () => menu.x >= 0 && menu.x + menu.width <= 390, 'phone: a menu is within the screen', JSON.stringify(menu));
await accessible(page, 'phone, dark, with a menu');
await page.keyboard.press('Escape');
await page.tap('summary >> nth=0');
await page.tap('text="reliable"');
await page.tap('text="Cut"');
await page.locator('#stage svg').evaluate((picture) => { // a finger
  const box = picture.getBoundingClientRect(), at = (x, y) => ({ clientX: box.x + x * box.width, clientY: box.y + y * box.height, pointerId: 1, pointerType: 'touch', bubbles: true });
  picture.setPointerCapture = () => {};
  picture.dispatchEvent(new PointerEvent('pointerdown', at(0.05, 0.5)));
  picture.dispatchEvent(new PointerEvent('pointermove', at(0.5, 0.5)));
  picture.dispatchEvent(new PointerEvent('pointerup', at(0.95, 0.5)));
});
await tell(async () => await page.locator('.side').count() === 1, 'phone: a finger cuts the network');
await page.context().close();

// ------------------------------------------------------------------------------------------------- the keyboard alone

page = await open('', { bypassCSP: true, reducedMotion: 'reduce' });
await tabTo(page, '#tab-stage');
await page.keyboard.press('ArrowRight');
await tabTo(page, '[type="search"]');
await page.keyboard.type('agrawala figures');
await tabTo(page, '[data-story]');
await page.keyboard.press('Enter');
for (let k = 0; k < 3; k++) await page.keyboard.press('ArrowRight');
await tell(async () => /move 3 of/.test(await text(page, '#controls')) && (await text(page, '#caption')).length > 20, 'keyboard: a story is found, opened and stepped through', await text(page, '#controls'));
await tabTo(page, '#help');
await page.keyboard.press('Enter');
await accessible(page, 'the help');
await page.keyboard.press('Enter');
await tell(async () => !(await page.locator('#keys').isVisible()), 'keyboard: the help opens and closes');
await tabTo(page, '[data-site="2"]');
await page.keyboard.press('Enter');
await accessible(page, 'a menu of a site');
await page.keyboard.press('Escape');
await tell(async () => await page.evaluate(() => document.activeElement.dataset.site) === '2', 'keyboard: a menu is left, and the site has the focus again');
await tabTo(page, '.prove button');
await page.keyboard.press('Enter');
await until(page, () => /hold/.test(document.querySelector('.prove .result').textContent));
const checked = (await text(page, '.prove code')).split(' ').slice(1);
await tell(async () => (await text(page, '.prove .result')).includes(`${String(JSON.parse(native([...checked, '--format', 'json'])).states).replace(/\B(?=(\d{3})+$)/g, ',')} states`), 'keyboard: the system is proved, with the states that dibs check counts', await text(page, '.prove .result'));
await page.focus('#tab-stage');
await page.keyboard.press('ArrowRight');
await page.keyboard.press('ArrowRight');
await tabTo(page, '#room-race input');
await tabTo(page, '#room-race button');
await page.keyboard.press('Enter');
await tell(async () => await until(page, () => document.querySelectorAll('#room-race .chart').length === 3), 'keyboard: a race is started');
await page.focus('#tab-race');
await page.keyboard.press('ArrowRight');
await until(page, () => document.querySelectorAll('#room-load tbody tr').length > 2);
await tabTo(page, '#room-load input[type="range"]');
await page.keyboard.press('ArrowRight');
await tell(async () => await until(page, () => /--sites 11 /.test(document.querySelector('#room-load tbody code')?.textContent ?? '')), 'keyboard: a slider of the load laboratory is moved');
await page.context().close();

// ----------------------------------------------------------------------------------------------- runs, forks, changes

page = await open();
await page.evaluate(() => {
  const { stories, data, run } = window.dibs;
  stories.open(data.stories.find((story) => story.file === 'suzuki-kasami.txt'));
  run.seek(9);
});
const long = await page.evaluate(() => window.dibs.run.state.count);
await choose(page, '[data-site="1"]', 'Leave the critical section');
await tell(async () => new RegExp(`move 10 of ${long}`).test(await text(page, '#controls')) && await page.locator('#runs button').count() === 0, 'the next move of a run, made by hand, goes on in it');
await page.keyboard.press('ArrowLeft');
await tell(async () => (await text(page, '.states')).includes('served=0,0,1') && (await page.locator('.states tr').count()) === 1, 'only the fields are shown that the move has changed', await text(page, '.states'));
await page.click('text="all fields"');
await tell(async () => await page.locator('.states tr').count() === 3 && await page.locator('.states mark').count() > 0, 'or all of them, with marks');
const caption = await text(page, '#caption');
await choose(page, '[data-site="0"]', 'Request');
await page.click('text="reliable"');
await tell(async () => await page.locator('#runs button').count() === 2 && await page.locator('.branch.current').count() === 2, 'another move forks: the tree has two branches');
await page.click('#runs button >> nth=0');
await page.evaluate(() => window.dibs.run.seek(9));
await tell(async () => await text(page, '#caption') === caption && await page.isChecked('text="reliable"') && new RegExp(`of ${long}`).test(await text(page, '#controls')), 'the first run still has its captions, moves and promises');
await page.click('#runs button >> nth=1');
await tell(async () => !(await page.isChecked('text="reliable"')), 'and the second one its own');
await until(page, () => location.hash === window.dibs.run.address(window.dibs.data.hash)); // the page writes it a moment after the change
const again = await open(await page.evaluate(() => location.hash));
await tell(async () => !(await again.isChecked('text="reliable"')) && await text(again, '#controls') === await text(page, '#controls'), 'the address holds moves and promises');
await again.context().close();

// -------------------------------------------------------------------------------------------- counters of every story

const counted = await page.evaluate(() => window.dibs.data.stories.map(({ file, text: story }) => {
  const { run, controls } = window.dibs;
  run.open(file, story);
  run.seek(run.state.count);
  controls.show();
  return [file, document.querySelector('#controls .counts').textContent, new Set(run.steps[0].sends.map(([number]) => number)).size];
}));
const wrong = counted.filter(([file, shown, first]) => {
  const lines = readFileSync(new URL(file, scenarios), 'utf8').split('\n').filter((line) => !line.startsWith('#')); // tests/scenario.sh compares it with the binary
  const count = (what) => lines.reduce((sum, line) => sum + line.split(what).length - 1, 0), entries = count('ENTERS'), messages = count('  -> ') + first;
  const grouped = (x) => String(x).replace(/\B(?=(\d{3})+$)/g, ',');
  return !shown.endsWith(`${grouped(entries)} ${entries === 1 ? 'entry' : 'entries'}, ${grouped(messages)} ${messages === 1 ? 'message' : 'messages'}`);
});
await tell(async () => counted.length === readdirSync(scenarios).length && wrong.length === 0, `the counters of all ${counted.length} stories are those of dibs scenario`, wrong.join('\n'));

// -------------------------------------------------------------------------------------------------------------- files

await openFile(page, 'mine.txt', '# Two sites.\nalgorithm lamport\nsites 2\nrequest 0\ndeliver 0 1 REQUEST\n');
await tell(async () => await until(page, () => /move 0 of 2/.test(document.querySelector('#controls').textContent)) && /Two sites/.test(await text(page, '#caption')), 'a scenario file is opened');
for (const [name, content, expected] of [
  ['broken.txt', 'algorithm lamport\nsites 2\nrequest 0\nrelease 1\n', /^broken\.txt, line 4: .*inside/],
  ['picture.png', '\x89PNG\r\n\x1a\n\0\0\0', /^picture\.png is no scenario/],
  ['letter.txt', 'Dear Sir or Madam,\n', /^letter\.txt, line 1: /],
  ['huge.txt', 'algorithm lamport\nsites 5000\nrequest 0\n', /^huge\.txt: the stage shows 1 to 64 sites/],
]) {
  await openFile(page, name, content);
  await until(page, () => document.querySelector('#note').classList.contains('bad'));
  await tell(async () => expected.test(await text(page, '#note')) && await page.locator('.site').count() === 2, `a file that is no run gets a friendly line: ${name}`, await text(page, '#note'));
  await page.evaluate(() => { document.querySelector('#note').classList.remove('bad'); });
}
const folder = mkdtempSync(`${tmpdir()}/dibs-page-`), saved = `${folder}/saved.txt`;
native(['check', 'lamport', '--sites', '2', '--without', 'fifo', '--save', saved]);
await openFile(page, 'counterexample.txt', readFileSync(saved, 'utf8'));
rmSync(folder, { recursive: true });
await until(page, () => /move 0 of 4/.test(document.querySelector('#controls').textContent));
await page.keyboard.press('End');
await tell(async () => await page.locator('.site.wrong').count() === 2, 'what dibs check saves is opened, and is red at its last move', await text(page, '#note'));

const moves = ['request 0', 'deliver 0 1 REQUEST', 'deliver 0 2 REQUEST', 'deliver 1 0 REPLY', 'deliver 2 0 REPLY', 'release 0'];
await openFile(page, 'long.txt', `algorithm ricart-agrawala\nsites 3\n${Array.from({ length: 60000 }, (_, k) => moves[k % 6]).join('\n')}\n`);
await until(page, () => /of 60000/.test(document.querySelector('#controls').textContent));
await page.locator('#time input').fill('30001');
await tell(async () => /move 30001 of 60000.*5,000 entries, 20,002 messages/.test(await text(page, '#controls')) && await page.locator('.site.waiting').count() === 1, 'a run of 60,000 moves has a slider', await text(page, '#controls'));
await page.focus('[data-site="0"]');
await page.keyboard.press('ArrowLeft');
await tell(async () => /move 30000 of/.test(await text(page, '#controls')) && await page.locator('.site.waiting').count() === 0 && (await page.locator('.trace li').count()) < 100, 'and a move back in its middle, with a list of some moves only');
await page.context().close();

await end();
