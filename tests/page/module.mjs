// module.mjs DIBS WASM PAGE [NUMBER]: compares the laboratory as WebAssembly with the native binary, and prints TAP. The checker must
// count the same states and find the same counterexamples, the simulator must measure the same figures on the same seed,
// every scenario must play to the same text, and mistakes must be told by the same lines.
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Laboratory, runCommand } from '../../src/page/module.mjs';
import { mistakeWords } from '../../src/page/stories.mjs';
import { published } from '../../src/page/formula.mjs';
import { checkWords } from '../../src/page/prove.mjs';

const [dibs, wasm, html, before] = process.argv.slice(2); // before: tests that were told of before these
const module = new WebAssembly.Module(readFileSync(wasm));
let number = Number(before ?? 0);

function tell(good, name, said = '') {
  if (!good) console.log(String(said).replace(/^/gm, '# '));
  console.log(`${good ? 'ok' : 'not ok'} ${++number} - ${name}`);
}

const native = (words) => spawnSync(dibs, words, { encoding: 'utf8', maxBuffer: 1 << 26 });

// ------------------------------------------------------------------------------------------------------------ checker

// What of a result does not depend on the machine.
function sameOf(text) {
  const result = JSON.parse(text);
  for (const key of ['seconds', 'memory', 'bytes_per_state', 'states_per_second']) delete result[key];
  return JSON.stringify(result);
}

for (const line of [
  'ricart-agrawala --requests 2',
  'suzuki-kasami --requests 2',
  'maekawa --sites 3 --set quorum=full',
  'raymond --sites 4',
  'central --rule slots:2 --requests 2',
  'lamport --sites 2 --without fifo',
  'lamport --sites 2 --without reliable',
  'singhal-heuristic-robust --crash 1 --without detection',
  'ricart-agrawala-implicit --sites 2',
  'swaroop-singh --rule group:2 --sites 2 --requests 2',
  'naimi-trehel --sites 3 --requests unlimited',
  'ricart-agrawala --requests 2 --reduce',
  'raymond --sites 5 --random 200',
]) {
  const words = ['check', ...line.split(' '), '--format', 'json'];
  let told = 0;
  const page = runCommand(module, words, () => told++);
  const here = native(words);
  const [json, text, scenario] = page.output.split('\f');
  const states = here.stdout ? JSON.parse(here.stdout).states : 'no';
  tell(here.stdout && sameOf(json) === sameOf(here.stdout) && text && (told || line.includes('reduce') || line.includes('random')),
    `check ${line}: ${states} states, here and there`, page.errors + here.stderr + json + here.stdout);
  if (here.status === 1) {
    const lab = new Laboratory(module);
    const state = lab.open('counterexample.txt', scenario);
    const { steps } = lab.call('page_steps', 0);
    tell(steps?.at(-1).wrong && steps.slice(1, -1).every((step) => !step.wrong),
      `check ${line}: the counterexample is a run that goes wrong at its last move`, JSON.stringify(state));
  }
}

// ---------------------------------------------------------------------------------------------------------- simulator

for (const line of [
  'naimi-trehel --sites 20 --closed --entries 3k',
  'ricart-agrawala --sites 10 --rate 0.01 --delay exp:1 --seed 7 --entries 3k',
  'maekawa --sites 9 --rate 0.005 --delay lognormal:1,0.5 --hold exp:0.2 --entries 2k --seed 3',
  'banta-k --rule slots:2 --sites 6 --closed --entries 1k',
  'raymond --sites 15 --rate 0.01 --zipf 1 --burst 5,20 --entries 2k',
  'singhal-heuristic-robust --sites 5 --closed --think 5 --crash-rate 0.001 --entries 1k',
]) {
  const words = ['sim', ...line.split(' '), '--format', 'json'];
  const page = runCommand(module, words), here = native(words);
  tell(here.status === 0 && page.output === here.stdout, `sim ${line}: the same figures`, page.errors + page.output + here.stdout);
}

for (const words of [['list', '--all', '--format', 'json'], ['explain', 'suzuki-kasami']]) {
  tell(runCommand(module, words).output === execFileSync(dibs, words, { encoding: 'utf8' }), `${words.join(' ')}: the same text`);
}

for (const line of ['check ricart', 'sim raymond --sites 5', 'check lamport --requests many', 'sim raymond --closed --delay gamma:2']) {
  const page = runCommand(module, line.split(' ')), here = native(line.split(' '));
  tell(page.status === 2 && here.stderr && page.errors === here.stderr.trim(), `${line}: the same complaint`, page.errors + '\n' + here.stderr);
}
tell(/has no files/.test(runCommand(module, 'sim raymond --closed --save x.txt'.split(' ')).errors), 'a page has no files, and says so');
tell(/one thread/.test(runCommand(module, 'check raymond --threads 4'.split(' ')).errors), 'a page has one thread, and says so');

// ---------------------------------------------------------------------------------------------------------- the page

const page = readFileSync(html, 'utf8'), data = JSON.parse(/id="data">(.*?)<\/script>/s.exec(page)[1]);
tell(!/\b(src|href)="(?!data:)/.test(page.replace(/<script.*?<\/script>/gs, '')) && /default-src 'none'/.test(page), 'the page refers to nothing outside of it');
const missed = data.mistakes.filter((m) => m.moves <= 30).filter((m) => { // the longest would take seconds
  const [json, , scenario] = runCommand(module, mistakeWords(m)).output.split('\f');
  return JSON.parse(json).verdict !== m.verdict || new Laboratory(module).open('x', scenario).count !== Number(m.moves);
});
tell(data.mistakes.length > 60 && missed.length === 0, `${data.mistakes.length} mistakes of the page are found as docs/verified.md says`, JSON.stringify(missed));
const cost = Object.fromEntries(JSON.parse(runCommand(module, ['list', '--format', 'json']).output).map((a) => [a.name, published(a.cost, 10).map((line) => line.text)]));
tell(cost['ricart-agrawala'][0] === '2(n-1) = 18' && cost['swaroop-singh'].includes('(n-1)(n+2)/2n at light load = 5.4') && cost['le-lann'][0] === '1 at full load' && cost.maekawa.length === 0,
  'published costs are read as formulas where they are formulas', JSON.stringify(cost));

const promises = new Laboratory(module).open('x', 'algorithm singhal-heuristic-time-outs\nsites 3\n');
const asked = checkWords({ ...promises, keeps: 0 }, '1').join(' ');
tell(asked.endsWith('--order any --lose 1 --duplicate 1 --without bounded-delay --without detection --crash 1') && runCommand(module, asked.split(' ')).status === 0, 'all promises that are withdrawn are words of dibs check', asked);

// ---------------------------------------------------------------------------------------------------------- scenarios

const folder = new URL('../scenario/', import.meta.url);
const bad = [];
for (const name of readdirSync(folder)) {
  const text = readFileSync(new URL(name, folder), 'utf8');
  const lab = new Laboratory(module);
  const state = lab.open(name, text);
  if (state.error) {
    bad.push(`${name}:${state.line}: ${state.error}`);
    continue;
  }
  const { steps } = lab.call('page_steps', 0);
  // Each move that the file expects, and what it did, in the order of the file.
  const expected = text.split('\n');
  let at = 0;
  for (const step of steps.slice(1)) {
    at = expected.indexOf(step.effect, at) + 1;
    if (!at) {
      bad.push(`${name}: "${step.effect}" is not what the file expects`);
      break;
    }
  }
  const end = lab.call('page_seek', steps.length - 1);
  const effects = native(['scenario', '--print', fileURLToPath(new URL(name, folder))]).stdout.split('\n').filter((line) => !line.startsWith('#'));
  const count = (what) => effects.reduce((sum, line) => sum + line.split(what).length - 1, 0), first = new Set(steps[0].sends.map(([k]) => k)).size;
  if (end.entries !== count('ENTERS') || end.messages !== count('  -> ') + first)
    bad.push(`${name}: ${end.entries} entries and ${end.messages} messages, dibs scenario --print has ${count('ENTERS')} and ${count('  -> ')} + ${first}`);
  const back = lab.call('page_seek', 0), again = lab.call('page_seek', steps.length - 1);
  if (back.place !== 0 || JSON.stringify(end) !== JSON.stringify(again)) bad.push(`${name}: going back and forth changes the end`);
  const copy = new Laboratory(module);
  copy.open('copy.txt', lab.scenario());
  const twin = copy.call('page_seek', steps.length - 1);
  if (JSON.stringify(twin.sites.map((s) => s.state)) !== JSON.stringify(end.sites.map((s) => s.state)))
    bad.push(`${name}: its run as a scenario ends elsewhere`);
}
tell(bad.length === 0, 'every scenario plays as its file expects, back and forth, with the entries and messages that dibs scenario --print shows', bad.slice(0, 10).join('\n'));

// ------------------------------------------------------------------------------------------------------------ long runs

const round = ['request 0', 'request 1', 'deliver 0 1 REQUEST', 'deliver 1 0 REQUEST', 'deliver 1 0 REPLY', 'release 0', 'deliver 0 1 REPLY', 'release 1'];
const long = Array.from({ length: 24000 }, (_, k) => round[k % round.length]);
const text = (moves) => `algorithm ricart-agrawala\nsites 2\n${moves.join('\n')}\n`;
const far = new Laboratory(module);
far.open('long.txt', text(long));
const differing = [23999, 24000, 64, 63, 65, 12000, 11999, 20001, 1, 0, 128, 24000].filter((place) => {
  const here = far.call('page_seek', place), there = new Laboratory(module);
  there.open('short.txt', text(long.slice(0, place)));
  return JSON.stringify({ ...here, count: 0 }) !== JSON.stringify({ ...there.call('page_seek', place), count: 0 });
});
tell(differing.length === 0, 'every place of a run of 24,000 moves is what playing up to it gives', differing.join(' '));
far.call('page_seek', 10000);
const another = far.call('page_act', far.call('page_seek', 10000).sites[0].actions.find(({ why }) => !why).id);
tell(another.count === 10001 && far.call('page_seek', 9999).place === 9999 && far.call('page_seek', 10001).place === 10001, 'and a move in its middle is the last one then', JSON.stringify(another));

// -------------------------------------------------------------------------------------------------------------- stage

const stage = new Laboratory(module);
const all = (lab, state) => state.sites.flatMap((site) => site.actions).concat(state.flights.flatMap((_, k) => lab.call('page_message', k).actions));
const find = (state, move) => all(stage, state).find((action) => action.move === move);
let state = stage.open('x', 'algorithm lamport\nsites 2\n');
tell(find(state, 'request 0').why === null && /not inside/.test(find(state, 'release 0').why), 'a site that is idle can request, not leave');
tell(/^alive/.test(find(state, 'crash 0').why), 'what a promise forbids has the reason');
state = stage.call('page_act', find(state, 'request 0').id);
state = stage.call('page_act', find(state, 'request 1').id);
tell(state.flights.length === 2 && /^reliable/.test(find(state, 'lose 0 1 REQUEST').why), 'a reliable network loses nothing');
state = stage.call('page_keep', state.keeps & ~2);
tell(find(state, 'lose 0 1 REQUEST').why === null, 'unless that promise is withdrawn');
state = stage.call('page_act', find(state, 'deliver 1 0 REQUEST').id);
tell(/^FIFO/.test(find(state, 'deliver 0 1 REPLY').why) && stage.call('page_act', find(state, 'deliver 0 1 REPLY').id).error,
  'FIFO keeps the reply behind the request');
state = stage.call('page_keep', state.keeps & ~1);
state = stage.call('page_act', find(state, 'deliver 0 1 REPLY').id);
tell(state.lamps.exclusion && state.place === 4, 'without FIFO both are inside, and the lamp says so');
state = stage.call('page_seek', 2);
state = stage.call('page_act', find(state, 'deliver 0 1 REQUEST').id);
tell(state.place === 3 && state.count === 3 && !state.lamps.exclusion, 'another move forgets the rest');
for (const text of ['', 'algorithm nonsense\n', 'algorithm lamport\nsites 0\n', 'algorithm lamport\nsites 1000\n', 'algorithm maekawa\nsites 3\nset quorum=plane\nrule slots:2\n',
  'algorithm lamport\nsites 2\nrequest 7\n', 'algorithm lamport\nsites 2\nset x', '\u0000\u0001', 'x'.repeat(100000)])
  tell(stage.open('x', text).error?.length > 5, `a bad run is refused: ${JSON.stringify(text.slice(0, 60))}`, stage.answerText());

// Random moves never break an algorithm without a flaw.
let seed = 1;
for (const name of ['ricart-agrawala', 'suzuki-kasami', 'maekawa', 'raymond', 'le-lann', 'swaroop-singh']) {
  const lab = new Laboratory(module);
  let now = lab.open('x', `algorithm ${name}\nsites 4\n`);
  for (let k = 0; k < 400 && !now.error; k++) {
    const possible = all(lab, now).filter((action) => !action.why);
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    now = lab.call('page_act', possible[Math.floor((seed / 2 ** 32) * possible.length)].id);
  }
  tell(!now.error && now.place === 400 && Object.values(now.lamps).every((lamp) => lamp === null), `400 random moves of ${name}`, JSON.stringify(now.lamps ?? now));
}
console.log(`1..${number}`);
