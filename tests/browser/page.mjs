// page.mjs TOOLS DIBS PAGE [PICTURES]: all rooms of the page in chromium, from disk and from a daemon; see run. No test asserts a
// time: each waits until it is so.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { accessible, choose, complaints, dibs, end, native, open, phone, pictures, tabTo, tell, text, until } from './tools.mjs';

// -------------------------------------------------------------------------------------------------------------- stage

let page = await open();
await tell(async () => await page.locator('.site').count() === 3, 'the page opens from disk with three sites');
await choose(page, '[data-site="0"]', 'Request');
await tell(async () => await page.locator('.message').count() === 2, 'a request puts two messages in flight');
await page.click('[data-site="0"]');
await tell(async () => /not idle/.test(await text(page, '.menu button[aria-disabled="true"] >> nth=0')), 'what is impossible is grey, with the reason');
await page.keyboard.press('Escape');
await page.click('.message >> nth=0');
await tell(async () => /reliable: every message/.test(await text(page, '.menu')), 'what a promise forbids is grey, with the promise');
await page.click('.menu >> text="Deliver"');
for (let k = 0; k < 3; k++) await choose(page, '.message:not(.gone) >> nth=0', 'Deliver');
await tell(async () => await page.locator('.site.inside').count() === 1 && /move 5 of 5/.test(await text(page, '#controls')), 'after four deliveries the site is inside');
await page.click('[aria-label^="Back"]');
await tell(async () => await page.locator('.site.inside').count() === 0 && /move 4 of 5/.test(await text(page, '#controls')), 'back takes the last move back');
await choose(page, '[data-site="2"]', 'Request');
await tell(async () => await page.locator('#runs button').count() === 2, 'another move forks, and both runs stay');
await page.click('#runs button >> nth=0');
await tell(async () => /move 5 of 5/.test(await text(page, '#controls')) && await page.locator('.site.inside').count() === 1, 'the first run is still there');
await until(page, () => location.hash.includes('at=5'));
const link = await page.evaluate(() => location.hash);
const again = await open(link);
await until(again, () => /move 5 of 5/.test(document.querySelector('#controls').textContent));
for (const selector of ['#controls', '.states']) {
  const [first, second] = [await text(page, selector), await text(again, selector)];
  await tell(async () => first === second, `the address holds the run: ${selector}`);
  if (first !== second) console.log(`# ${JSON.stringify(first)} is not ${JSON.stringify(second)}`);
}
await again.context().close();

await page.click('text="reliable"');
await choose(page, '[data-site="1"]', 'Request');
const flying = await page.locator('.message:not(.gone)').count();
await choose(page, '.message:not(.gone) >> nth=0', 'Duplicate');
await tell(async () => await page.locator('.message:not(.gone)').count() === flying + 1, 'a promise that is withdrawn forbids nothing: a message is copied');
await choose(page, '.message:not(.gone) >> nth=0', 'Lose');
await tell(async () => await page.locator('.message:not(.gone)').count() === flying, 'and one is lost');
await choose(page, '.message:not(.gone) >> nth=0', 'Hold: leave it out of random moves');
await tell(async () => await page.locator('.message.held').count() > 0, 'a message can be held');
await page.click('text="Cut"');
const box = await page.locator('#stage svg').boundingBox();
await page.mouse.move(box.x + 20, box.y + box.height * 0.4);
await page.mouse.down();
await page.mouse.move(box.x + box.width - 20, box.y + box.height * 0.4, { steps: 5 });
await page.mouse.up();
await tell(async () => await page.locator('.side').count() === 1 && /cut off: 0/.test(await text(page, '.trace')), 'a line across the stage cuts the network');
await page.click('text="Heal"');
await tell(async () => await page.locator('.side').count() === 0, 'and it can be healed');
await page.click('text="alive"');
await choose(page, '[data-site="2"]', 'Crash');
await tell(async () => await page.locator('.site.down').count() === 1, 'a site crashes');
const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
const light = await background();
await page.click('#theme');
await tell(async () => await background() !== light, 'light and dark can be switched');

await page.selectOption('#algorithm', 'suzuki-kasami');
await tell(async () => await page.locator('.site .token').count() === 1, 'the token is visible');
await page.selectOption('#algorithm', 'raymond');
await tell(async () => await page.locator('.edge').count() === 2, 'Raymond’s sites stand on a tree');
await page.fill('#sites', '7');
await page.keyboard.press('Tab');
await tell(async () => await until(page, () => document.querySelectorAll('.site').length === 7), 'the number of sites can be changed');
for (let k = 0; k < 40; k++) await page.click('text="Random"');
await tell(async () => /move 40 of 40/.test(await text(page, '#controls')) && await page.locator('.lamps .bad').count() === 0, 'forty random moves, and all lamps are green');
await page.context().close();

// ----------------------------------------------------------------------------------------------------------- keyboard

page = await open();
let reached = await tabTo(page, '[data-site="1"]');
await page.keyboard.press('Enter');
await page.keyboard.press('Enter');
await tell(async () => reached && await page.locator('.message').count() === 2 && await page.evaluate(() => document.activeElement.dataset.site) === '1', 'keyboard: a site requests, and keeps the focus');
reached = await tabTo(page, '.message');
await page.keyboard.press('Enter');
await page.keyboard.press('Enter');
await tell(async () => reached && /move 2 of 2/.test(await text(page, '#controls')), 'keyboard: a message is delivered');
await page.keyboard.press('ArrowLeft');
await page.keyboard.press('r');
await page.keyboard.press('Home');
await tell(async () => /move 0 of/.test(await text(page, '#controls')), 'keyboard: back, random, first');
await page.keyboard.press('e');
await tell(async () => await page.locator('.site.inside').count() === 1, 'keyboard: random moves until a site enters');
await page.context().close();

// ------------------------------------------------------------------------------------------------------------ prove it

page = await open();
const states = async (words) => JSON.parse(native([...words, '--format', 'json'])).states;
const grouped = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ',');
await page.selectOption('.prove select', '2');
await page.click('text="Prove it"');
await until(page, () => /hold|BROKEN/.test(document.querySelector('.prove .result').textContent));
await tell(async () => (await text(page, '.prove .result')).includes(`${grouped(await states(['check', 'ricart-agrawala', '--requests', '2']))} states`), 'the checker counts the states that dibs check counts', await text(page, '.prove .result'));
await page.selectOption('#algorithm', 'lamport');
await page.fill('#sites', '2');
await page.keyboard.press('Tab');
await page.selectOption('.prove select', '1');
await page.click('text="fifo"');
await page.click('text="Prove it"');
await until(page, () => /BROKEN/.test(document.querySelector('.prove .result').textContent));
await tell(async () => /15 states/.test(await text(page, '.prove .result')) && /move 4 of 4/.test(await text(page, '#controls')) && await page.locator('.site.wrong').count() === 2 && /EXCLUSION BROKEN/.test(await text(page, '.lamps')),
  'without FIFO the shortest counterexample becomes the run', await text(page, '.prove .result'));
await page.selectOption('#algorithm', 'lamport');
await page.fill('#sites', '4');
await page.keyboard.press('Tab');
await page.selectOption('.prove select', '3');
await page.click('text="Prove it"');
await until(page, () => / states/.test(document.querySelector('.prove .result').textContent));
await page.click('text="Cancel"');
await tell(async () => /Cancelled/.test(await text(page, '.prove .result')), 'a long search shows its progress and can be cancelled');
await page.context().close();

// -------------------------------------------------------------------------------------------------------------- stories

page = await open();
await page.click('#tab-stories');
const files = await page.$$eval('[data-story]', (all) => all.map((one) => one.dataset.story));
const bad = await page.evaluate(() => window.dibs.data.stories.filter((story) => {
  const { run } = window.dibs;
  if (run.open(story.file, story.text, { title: story.head })) return true;
  run.seek(run.state.count);
  return run.state.place !== run.state.count || document.querySelectorAll('.site').length !== run.state.sites.length;
}).map((story) => story.file));
await tell(async () => files.length > 150 && bad.length === 0, `all ${files.length} stories play to their end`, bad.join('\n'));
await page.fill('[type="search"]', 'suzuki');
await page.click('[data-story="suzuki-kasami.txt"]');
const head = await text(page, '#caption');
await page.keyboard.press('ArrowRight');
await page.keyboard.press('ArrowRight');
await tell(async () => head.length > 20 && /move 2 of/.test(await text(page, '#controls')), 'a story has captions and is stepped through');
await page.click('#tab-stories');
await page.fill('[type="search"]', '');
const mistakes = await page.$$eval('[data-mistake]', (all) => all.map((one) => one.dataset.mistake));
for (const wanted of [mistakes[0], mistakes.find((m) => /suzuki/.test(m)), mistakes.at(-1)]) {
  await page.click('#tab-stories');
  await page.click(`[data-mistake="${wanted}"]`);
  const found = await until(page, () => document.querySelectorAll('.lamps .bad').length > 0 && /BROKEN|DEADLOCK|ERROR|STARVATION/.test(document.querySelector('.prove .result').textContent));
  await tell(async () => found, `the checker finds ${wanted} in front of the reader`, await text(page, '.prove .result'));
}
await page.context().close();

// ----------------------------------------------------------------------------------------------------------- race, load

page = await open();
await page.click('#tab-race');
await page.fill('#room-race input >> nth=2', '1600');
await page.click('text="Start the race"');
await until(page, () => window.dibs.race.lanes?.every((lane) => lane.results.length === 5) && !window.dibs.race.busy);
const lanes = await page.evaluate(() => window.dibs.race.lanes.map((lane) => [lane.name, lane.results.at(-1)]));
const words = (await text(page, '#room-race .lines')).split('\n');
await tell(async () => lanes.length === 3 && lanes.every(([, result], k) => JSON.stringify(result) === JSON.stringify(JSON.parse(native([...words[k].split(' ').slice(1), '--format', 'json'])))),
  'the figures of the race are those of dibs sim with the words that are shown', words.join('\n'));
await tell(async () => await page.locator('#room-race .chart').count() === 3, 'the race draws three charts');
await page.click('#tab-load');
await until(page, () => document.querySelectorAll('#room-load tbody tr').length === 19);
const rows = await page.$$eval('#room-load tbody tr', (all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
const wrong = [rows[2], rows[8], rows[9], rows[18]].filter((row) => {
  const figures = JSON.parse(native([...row[4].split(' ').slice(1), '--format', 'json']));
  return String(figures.messages_per_entry) !== row[2] || String(figures.wait_mean) !== row[3];
});
await tell(async () => wrong.length === 0, 'the load laboratory measures what dibs sim measures', wrong.join('\n'));
await tell(async () => await page.locator('#room-load .chart').count() === 4 && await page.locator('#room-load line.formula').count() > 0 && await page.locator('#room-load polyline.formula').count() > 0,
  'and draws the published formulas, over the load and over the number of sites');
await page.selectOption('#room-load select >> nth=0', 'swaroop-singh');
await page.selectOption('#room-load select >> nth=2', 'group');
await page.locator('#room-load input[type="range"] >> nth=1').fill('8');
await until(page, () => document.querySelectorAll('#room-load tbody tr').length === 19 && /--rule group:2/.test(document.querySelector('#room-load tbody tr:last-child code').textContent));
const shared = await page.$$eval('#room-load tbody tr:last-child td', (cells) => cells.map((cell) => cell.textContent));
await tell(async () => shared[0] === 'full' && JSON.parse(native([...shared[3].split(' ').slice(1), '--format', 'json'])).messages_per_entry === Number(shared[1]), 'rule and load are chosen by the reader', shared.join(' '));
await page.context().close();

// ------------------------------------------------------------------------------------------------------------ bad input

for (const [hash, expected] of [
  ['#v=00000000&at=1&run=algorithm.lamport~sites.2~request.0', /another version/],
  ['#v=00000000&at=2&run=algorithm.lamport~sites.2~request.0~release.1', /another version.*first one that is not possible/],
  ['#v=x&run=algorithm.nonsense', /cannot be opened.*unknown algorithm/],
  ['#v=x&run=%00%01~<script>alert(1)</script>', /cannot be opened/],
  ['#v=x&run=algorithm.lamport~sites.4000000~request.0', /cannot be opened/],
  [`#v=x&run=${'x'.repeat(200000)}`, /too long/],
]) {
  page = await open(hash);
  await tell(async () => expected.test(await text(page, '#note')) && await page.locator('.site').count() > 0, `a bad link gets a friendly line: ${hash.slice(0, 60)}`, await text(page, '#note'));
  await page.context().close();
}

// ------------------------------------------------------------------------------------------------------------ a service

const home = mkdtempSync(`${tmpdir()}/dibs-page-`), base = Number(process.env.PORT), names = ['ant', 'bee', 'cat'];
const members = names.map((name, k) => `${name}=127.0.0.1:${base + k}`).join(',');
const daemons = names.map((name, k) => spawn(dibs, ['serve', '--name', name, '--members', members, '--data', home, '--socket', `${home}/${name}`, ...(k ? [] : ['--http', `127.0.0.1:${base + 9}`])], { stdio: 'ignore' }));
process.on('exit', () => daemons.forEach((daemon) => daemon.kill('SIGKILL')));
const ready = async () => {
  for (let k = 0; k < 400; k++) {
    if (/^ready yes/m.test(native(['status', '--socket', `${home}/ant`]) ?? '')) return true;
    await new Promise((wake) => setTimeout(wake, 50));
  }
  return false;
};
await tell(async () => await ready(), 'three daemons form a cluster');
page = await open('', {}, `http://127.0.0.1:${base + 9}/`);
await tell(async () => await page.locator('.site').count() === 3, 'a daemon serves the laboratory, too');
await page.click('#tab-service');
await tell(async () => await until(page, () => document.querySelectorAll('#room-service tbody tr').length > 5) && /Member ant grants locks/.test(await text(page, '#room-service')) && (await text(page, '#room-service')).includes('cat'), 'and a room with its members');
const holder = spawn(dibs, ['lock', 'secret-name', '--socket', `${home}/ant`, '--', 'sleep', '600'], { stdio: 'ignore' });
await tell(async () => await until(page, () => document.querySelector('[data-number="holders now"]').textContent === '1'), 'a client that holds a lock is counted while one looks');
const waiter = spawn(dibs, ['lock', 'secret-name', '--socket', `${home}/ant`, '--', 'true'], { stdio: 'ignore' });
await tell(async () => await until(page, () => document.querySelector('[data-number="waiters now"]').textContent === '1'), 'and one that waits');
holder.kill('SIGTERM');
await tell(async () => await until(page, () => document.querySelector('[data-number="grants"]').textContent === '2' && document.querySelector('[data-number="holders now"]').textContent === '0'), 'and the hand-over');
await tell(async () => !(await page.content()).includes('secret-name'), 'no name of a lock is told');
if (pictures) {
  await until(page, () => document.querySelectorAll('#room-service .chart').length >= 2);
  await page.screenshot({ path: `${pictures}/desktop-light-service.png` });
}
daemons[2].kill('SIGKILL');
await tell(async () => await until(page, () => /cat.*no/.test([...document.querySelectorAll('#room-service tbody tr')].map((r) => r.textContent).find((r) => r.startsWith('cat')) ?? '')), 'a member that is gone takes part no more');
const known = complaints.length;
daemons[0].kill('SIGKILL');
await tell(async () => await until(page, () => /does not answer/.test(document.querySelector('#room-service .result').textContent)), 'a daemon that does not answer is said so');
complaints.length = known; // the browser complains about that, as it should
await page.context().close();
daemons.forEach((daemon) => daemon.kill('SIGKILL'));
waiter.kill('SIGKILL');
rmSync(home, { recursive: true, force: true });

// ------------------------------------------------------------------------------------------------- many sites, other screens

page = await open('#run=algorithm.ricart-agrawala~sites.60');
await page.click('text="Play"');
const frames = await page.evaluate(() => new Promise((done) => {
  const began = performance.now();
  let count = 0;
  const next = () => (++count, performance.now() - began < 3000 ? requestAnimationFrame(next) : done(Math.round((count * 1000) / (performance.now() - began))));
  requestAnimationFrame(next);
}));
await tell(async () => await until(page, () => window.dibs.run.state.place > 20), `sixty sites play (${frames} frames per second here)`);
const slow = await page.context().newCDPSession(page), placed = await page.evaluate(() => window.dibs.run.state.place);
await slow.send('Emulation.setCPUThrottlingRate', { rate: 8 });
let gone = false;
for (let k = 0; k < 300 && !gone; k++) gone = await page.evaluate((place) => new Promise((done) => requestAnimationFrame(() => done(window.dibs.run.state.place > place + 20))), placed);
await page.click('text="Pause"');
const stood = await page.evaluate(() => window.dibs.run.state.place), shown = await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done([window.dibs.run.state.place, document.querySelector('#time input').value])))));
await tell(async () => gone && shown[0] === stood && Number(shown[1]) === stood, 'on a machine eight times slower they go on, each frame shows the present, and a pause is one at once', `${gone} ${stood} ${shown}`);
await slow.send('Emulation.setCPUThrottlingRate', { rate: 1 });
await page.context().close();

for (const [name, options] of [['desktop', {}], ['phone', phone]])
  for (const colorScheme of ['light', 'dark']) {
    page = await open('', { ...options, colorScheme, reducedMotion: 'reduce', bypassCSP: true });
    await page.evaluate(() => {
      window.dibs.stories.open(window.dibs.data.stories.find((story) => story.file === 'suzuki-kasami.txt'));
      window.dibs.run.seek(9);
    });
    for (const room of ['stage', 'stories', 'race', 'load']) {
      await page.click(`#tab-${room}`);
      if (room === 'load') await until(page, () => document.querySelectorAll('#room-load tbody tr').length >= (window.innerWidth > 1000 ? 19 : 2));
      if (room === 'race') {
        await page.fill('#room-race input >> nth=2', '400');
        await page.click('text="Start the race"');
        await until(page, () => window.dibs.race.lanes && !window.dibs.race.busy);
      }
      await accessible(page, `${name}, ${colorScheme}, ${room}`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      await tell(async () => wide <= 0, `${name}, ${colorScheme}: ${room} does not scroll sideways`, `${wide} pixels too wide`);
      if (pictures) await page.screenshot({ path: `${pictures}/${name}-${colorScheme}-${room}.png`, fullPage: room === 'stage' && name === 'phone' });
    }
    await page.context().close();
  }

await end();
