// room.mjs TOOLS DIBS PAGE [PICTURES]: the operations room, which a daemon serves, in chromium against three real daemons; see run.
// No test asserts a time: each waits until it is so.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { accessible, complaints, dibs, end, native, open, phone, pictures, tabTo, tell, text, until } from './tools.mjs';

const home = mkdtempSync(`${tmpdir()}/dibs-room-`), base = Number(process.env.PORT) + 20, names = ['ant', 'bee', 'cat'];
const members = names.map((name, k) => `${name}=127.0.0.1:${base + k}`).join(','), at = `http://127.0.0.1:${base + 9}/`;
const jobs = names.map((name, k) => spawn(dibs, ['serve', '--name', name, '--members', members, '--data', home, '--socket', `${home}/${name}`, '--lease', '10000', '--deadlock-after', '0',
  ...(k ? [] : ['--http', `127.0.0.1:${base + 9}`, '--clients', `127.0.0.1:${base + 8}`])], { stdio: 'ignore' }));
process.on('exit', () => jobs.forEach((job) => job.kill('SIGKILL')));
const sleep = (ms) => new Promise((wake) => setTimeout(wake, ms));
async function holds(words, what) {
  for (let k = 0; k < 400; k++) {
    if (what.test(native(words) ?? '')) return true;
    await sleep(50);
  }
  return false;
}
const client = (member, ...words) => {
  const job = spawn(dibs, ['lock', '--socket', `${home}/${member}`, '--grace', '0.1', ...words], { stdio: 'ignore' });
  jobs.push(job);
  return job;
};
const token = (...place) => native(['page-token', ...(place.length ? place : ['--socket', `${home}/ant`])]).trim();
const room = (page) => text(page, '#room-service');
// Until the room has all these words; if it never has, what it has is told.
async function shows(page, words) {
  for (let k = 0; k < 300; k++) {
    const seen = await room(page);
    if (words.every((word) => seen.includes(word))) return true;
    if (k === 299) console.log(`# ${seen}`);
    await sleep(100);
  }
  return false;
}

await tell(async () => (await Promise.all(names.map((name) => holds(['status', '--socket', `${home}/${name}`], /^ready yes/m)))).every(Boolean), 'three daemons form a cluster');

// ------------------------------------------------------------------------------------------------------------ a stranger

const holder = client('ant', 'secret-name', '--', 'sleep', '600');
await holds(['holders', 'secret-name', '--socket', `${home}/ant`], /sleep/);
client('bee', 'secret-name', '--', 'true');
await holds(['waiters', 'secret-name', '--socket', `${home}/ant`], /true/);
let page = await open('', {}, at);
await page.click('#tab-service');
await tell(async () => await shows(page, ['Member ant grants locks', '3 of 3 members', 'cat']) && !(await page.content()).includes('secret-name'), 'without a login there are members and numbers, and no names of locks');
const known = complaints.length;
await page.fill('.login input', 'nonsense');
await page.click('text="Log in"');
await tell(async () => /no address and no token/.test(await text(page, '.login')), 'what is no token is said so');
await page.fill('.login input', '0'.repeat(32));
await page.click('text="Log in"');
await tell(async () => await shows(page, ['unknown, too old or used already']), 'and what is a wrong one');
complaints.length = known; // the browser complains of the refusal
await page.fill('.login input', token());
await page.keyboard.press('Enter');
await tell(async () => await shows(page, ['an operator, who may take locks away', 'secret-name', 'swaroop-singh']), 'the address of dibs page-token, pasted, logs in');
await page.reload();
await page.waitForSelector('html[data-ready]');
await page.click('#tab-service');
await tell(async () => await shows(page, ['secret-name']), 'the login outlives the page');
await page.click('text="Log out"');
await tell(async () => await until(page, () => !document.querySelector('#room-service').textContent.includes('secret-name') || document.querySelector('.ops').hidden), 'and ends when the user says so');
await page.context().close();

// ----------------------------------------------------------------------------------------------------------------- a reader

const url = token('--connect', `127.0.0.1:${base + 8}`);
page = await open(url.replace(/^[^#]*/, ''), {}, at);
await tell(async () => await shows(page, ['you may look', 'secret-name']) && !page.url().includes('login'), 'the address itself opens the room, and is not left in the browser');
await page.click('[data-lock="secret-name"] button');
await tell(async () => await shows(page, ['may not take it away']) && await page.locator('.force').count() === 0, 'a reader sees the clients, and cannot take the lock away');
await page.context().close();

// -------------------------------------------------------------------------------------------------------------- an operator

page = await open(token().replace(/^[^#]*/, ''), {}, at);
await tell(async () => await shows(page, ['secret-name', 'sleep at ant']), 'a lock has its holder, and since when');
client('cat', 'other-name', '--', 'sleep', '600');
await tell(async () => await shows(page, ['granted other-name', 'at cat']), 'events of other members are shown as they happen');
await tell(async () => await until(page, () => document.querySelectorAll('.blocks .block').length >= 3 && document.querySelectorAll('.blocks .edge').length >= 2), 'the graph shows who waits for whom');
await page.fill('.ops input[type="search"]', 'other');
await tell(async () => await until(page, () => document.querySelectorAll('.ops-locks [data-lock]').length === 1 && Boolean(document.querySelector('[data-lock="other-name"]'))), 'a search finds locks by a part of their names');
await page.fill('.ops input[type="search"]', '');
await until(page, () => document.querySelectorAll('.ops-locks [data-lock]').length >= 2);
await page.click('[data-lock="secret-name"] button');
await page.waitForSelector('.force:not(:disabled)');
const rows = await page.$$eval('.detail tbody tr', (all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
const told = JSON.parse(native(['holders', 'secret-name', '--socket', `${home}/bee`, '--format', 'json']));
await tell(async () => rows.length === 2 && rows[0][0] === told[0].who && rows[0][1] === told[0].from && rows[0][2] === 'ant' && rows[0][5] === String(told[0].fence), 'holders are those of dibs holders, with their fences and where they come from', JSON.stringify(rows));
await page.click('.force');
await tell(async () => /Take “secret-name” away/.test(await text(page, 'dialog[open]')) && await page.evaluate(() => document.activeElement.textContent) === 'Leave it', 'to take a lock away has to be confirmed, and “no” comes first');
if (pictures) await page.screenshot({ path: `${pictures}/room-confirm.png` });
await page.keyboard.press('Enter');
await tell(async () => await page.locator('dialog[open]').count() === 0 && holder.exitCode === null && /sleep/.test(native(['holders', 'secret-name', '--socket', `${home}/ant`])), 'then nothing is changed');
await page.click('.force');
await page.click('dialog[open] .danger');
await tell(async () => await shows(page, ['was taken away from 1 client', 'lost secret-name']), 'or the lock is taken away, and the event is shown');

// Two clients that wait for each other: each holds a lock, and wants the other's. A connection that holds and waits is one client.
const talk = (member, name) => {
  const socket = connect(`${home}/${member}`);
  socket.write(`CLIENT SETNAME ${name}\r\n`);
  return socket;
};
const [left, right] = [talk('ant', 'left'), talk('cat', 'right')];
left.write('LOCK x-lock\r\n');
right.write('LOCK y-lock\r\n');
await holds(['holders', 'x-lock', '--socket', `${home}/ant`], /left/);
await holds(['holders', 'y-lock', '--socket', `${home}/ant`], /right/);
left.write('LOCK y-lock\r\n');
right.write('LOCK x-lock\r\n');
await tell(async () => await shows(page, ['Deadlock:', 'wait for each other']) && await until(page, () => document.querySelectorAll('.blocks .block.bad').length === 4), 'clients that wait for each other are shown as a deadlock');
if (pictures) await page.screenshot({ path: `${pictures}/room-deadlock.png`, fullPage: true, clip: { x: 0, y: 0, width: 1280, height: 815 } });
left.destroy();
right.destroy();
await tell(async () => await until(page, () => !/Deadlock/.test(document.querySelector('.ops-graph').textContent)), 'until one of them gives up');

const views = JSON.parse(native(['views', '--socket', `${home}/ant`, '--format', 'json']));
await tell(async () => await until(page, () => document.querySelectorAll('[data-view]').length > 0) && JSON.stringify(await page.$$eval('[data-view]', (all) => all.map((row) => [row.dataset.view, row.cells[1].textContent])))
  === JSON.stringify(views.map((view) => [String(view.view), view.members.replaceAll(' ', ', ') || 'none'])), 'the views of the member are those of dibs views');

// ------------------------------------------------------------------------------------------------------------------ a replay

// Clients of all members take a lock in turn; grants is how often they were granted it.
let grants = 0;
async function use(name, rounds, at) {
  const sockets = at.map((member) => {
    const socket = connect(`${home}/${member}`);
    socket.setEncoding('utf8');
    socket.on('data', (data) => { grants += (data.match(/^\*2/gm) ?? []).length; });
    return socket;
  });
  const wanted = grants + rounds * at.length;
  for (let k = 0; k < rounds; k++) sockets.forEach((socket) => socket.write(`LOCK ${name}\r\nUNLOCK ${name}\r\n`));
  for (let k = 0; k < 1200 && grants < wanted; k++) await sleep(50);
  sockets.forEach((socket) => socket.end());
  return grants === wanted;
}
async function replay(name) {
  await page.click('#tab-service');
  await page.fill('.ops input[type="search"]', name);
  await page.click(`[data-lock="${name}"] button`);
  await page.click(`.detail:has(h3:text-is("${name}")) .replay`);
  return until(page, () => window.dibs.run.state.recorded && !document.querySelector('#room-stage').hidden);
}
const stands = () => page.evaluate(() => ({ red: document.querySelectorAll('.lamps .bad').length, lamps: document.querySelector('.lamps').textContent, entered: window.dibs.run.steps.filter((step) => step.entered).length,
  moves: window.dibs.run.state.count, midst: window.dibs.run.begin.some((line) => line.startsWith('state')), wrong: window.dibs.run.steps.filter((step) => step.wrong).length }));
await use('played-back', 1, names);
await use('played-back', 1, ['cat']);
await use('played-back', 1, ['ant']);
grants = 5; // none of them could join another's stay
await tell(async () => await replay('played-back'), 'a lock’s last run is opened on the stage');
await page.keyboard.press('End');
await page.evaluate(() => window.dibs.run.seek(window.dibs.run.state.count));
let seen = await stands();
const text0 = native(['replay', 'played-back', '--socket', `${home}/bee`]);
await tell(async () => seen.red === 0 && seen.wrong === 0 && seen.entered >= 3 && seen.entered <= grants && seen.entered === (text0.match(/^recorded .* enters/gm) ?? []).length && seen.moves === (text0.match(/^(request|release|deliver) /gm) ?? []).length
  && /as the members have recorded it/.test(seen.lamps), 'its entries are those of dibs replay, and all lamps are green at every move', JSON.stringify(seen));
if (pictures) await page.screenshot({ path: `${pictures}/room-replay.png` });
const redAt = await page.evaluate(() => {
  const { run } = window.dibs, whole = window.whole = run.scene(), k = run.steps.findIndex((step) => step.entered);
  const lines = whole.split('\n'), moves = lines.map((line, i) => (/^(request|release|deliver) /.test(line) ? i : -1)).filter((i) => i >= 0);
  lines[moves[k - 1] + 1] = lines[moves[k - 1] + 1].replace('enters', '-');
  const wrong = run.open('replay.txt', lines.join('\n'), { at: k });
  return { wrong, k, first: run.steps.findIndex((step) => step.wrong) };
});
await tell(async () => !redAt.wrong && redAt.first === redAt.k && await until(page, () => /NOT AS RECORDED/.test(document.querySelector('.lamps .bad')?.textContent ?? '')), 'a record that was tampered with makes a lamp red, at that very move', JSON.stringify(redAt));
const left0 = await page.evaluate(() => {
  const { run } = window.dibs, lines = window.whole.split('\n'), k = lines.findIndex((line) => line.startsWith('deliver'));
  lines.splice(k, 2);
  return run.open('replay.txt', lines.join('\n'), { at: 1e6 });
});
await tell(async () => !left0 && await until(page, () => document.querySelectorAll('.lamps .bad').length > 0), 'so does an arrival that is left out', JSON.stringify(left0));
await tell(async () => await use('much-used', 1500, ['ant', 'bee']) && await replay('much-used'), 'so is that of a lock that was used much');
seen = await stands();
await tell(async () => seen.midst && seen.red === 0 && seen.wrong === 0 && seen.moves > 100 && /in the midst/.test(await text(page, '#caption')), 'it begins in the midst, says so, and all lamps are green', JSON.stringify(seen));
const left1 = await page.evaluate(() => {
  const { run } = window.dibs;
  run.seek(50);
  for (let k = 0; k < 20 && run.runs.length < 2; k++) run.random();
  return [run.runs.length, run.state.recorded, run.steps.slice(0, run.state.place + 1).filter((step) => step.wrong).length];
});
await tell(async () => left1[0] === 2 && left1[1] && left1[2] === 0, 'and one can leave it by a move of one’s own', left1.join(' '));
const broken = await page.evaluate(() => {
  const { run } = window.dibs, wrong = run.open('replay.txt', 'algorithm swaroop-singh\nsites 3\nrule group:9\norder fifo\nrecorded\nstate 0 1 00ff\nrequest 0 0\n');
  return [wrong?.error, run.state.count > 0];
});
await tell(async () => /no state of site 0/.test(broken[0]) && broken[1], 'a state that is none is refused, and the stage stays as it was', JSON.stringify(broken));
await page.click('#tab-service');
await page.fill('.ops input[type="search"]', '');

// ------------------------------------------------------------------------------------------------------------ other screens

const waiting = client('bee', 'a/rather/long/name/of/a/lock', '--', 'sleep', '600');
for (let k = 0; k < 3; k++) client('cat', 'a/rather/long/name/of/a/lock', '--', 'true');
await holds(['waiters', 'a/rather/long/name/of/a/lock', '--socket', `${home}/ant`], /true[^]*true[^]*true/);
for (const [name, options] of [['desktop', {}], ['phone', phone]])
  for (const colorScheme of ['light', 'dark']) {
    const other = await open(token().replace(/^[^#]*/, ''), { ...options, colorScheme, reducedMotion: 'reduce', bypassCSP: true }, at);
    await shows(other, ['a/rather/long/name', 'Who blocks whom']);
    await other.click('[data-lock="a/rather/long/name/of/a/lock"] button');
    await until(other, () => document.querySelectorAll('.detail tbody tr').length >= 4 && document.querySelectorAll('.blocks .lock').length >= 1);
    await accessible(other, `${name}, ${colorScheme}: the operations room`);
    const wide = await other.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    await tell(async () => wide <= 0, `${name}, ${colorScheme}: it does not scroll sideways`, `${wide} pixels too wide`);
    if (pictures) await other.screenshot({ path: `${pictures}/room-${name}-${colorScheme}.png`, fullPage: true });
    await other.context().close();
  }

// Keyboard only: from the tab to the search, to a lock, to its button, to the confirmation.
await page.focus('#tab-service');
const reached = [await tabTo(page, '.ops input[type="search"]')];
await page.keyboard.type('rather');
await until(page, () => document.querySelectorAll('.ops-locks [data-lock]').length === 1);
reached.push(await tabTo(page, '[data-lock] button'));
await page.keyboard.press('Enter');
await page.waitForSelector('.force:not(:disabled)');
reached.push(await tabTo(page, '.force'));
await page.keyboard.press('Enter');
await page.waitForSelector('dialog[open]');
reached.push(await tabTo(page, 'dialog .danger'));
await page.keyboard.press('Enter');
await tell(async () => reached.every(Boolean) && await shows(page, ['“a/rather/long/name/of/a/lock” was taken away']), 'all of that works with the keyboard alone', reached.join(' '));
waiting.kill();

jobs[2].kill('SIGKILL');
await tell(async () => await until(page, () => /no/.test([...document.querySelectorAll('#room-service tbody tr')].map((r) => r.textContent).find((r) => r.startsWith('cat')) ?? '')), 'a member that is gone takes part no more');
const before = complaints.length;
jobs[0].kill('SIGKILL');
await tell(async () => await until(page, () => /does not answer/.test(document.querySelector('#room-service .result').textContent)), 'a daemon that does not answer is said so');
await page.context().close();
complaints.length = before; // the browser complains about that, as it should
jobs.forEach((job) => job.kill('SIGKILL'));
rmSync(home, { recursive: true, force: true });
await end();
