// main.mjs - puts the page together.
import { runCommand } from './module.mjs';
import { byId, note } from './dom.mjs';
import { Jobs } from './jobs.mjs';
import { Run } from './run.mjs';
import { Controls, Stage } from './stage.mjs';
import { Runs } from './runs.mjs';
import { Time } from './time.mjs';
import { Truth } from './truth.mjs';
import { Setup } from './setup.mjs';
import { Prove } from './prove.mjs';
import { Stories } from './stories.mjs';
import { Race } from './race.mjs';
import { Load } from './load.mjs';
import { Service } from './service.mjs';

const ADDRESS_SHOWN = 30000;
const ROOMS = ['stage', 'stories', 'race', 'load']; // and 'service', if a daemon serves the page

async function loadModule() {
  const bytes = Uint8Array.from(atob(byId('wasm').textContent), (c) => c.charCodeAt(0));
  const plain = new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip')));
  return WebAssembly.compile(await plain.arrayBuffer());
}

function showRoom(name) {
  for (const room of ROOMS) {
    const chosen = room === name;
    byId(`room-${room}`).hidden = !chosen;
    byId(`tab-${room}`).setAttribute('aria-selected', String(chosen));
    byId(`tab-${room}`).tabIndex = chosen ? 0 : -1;
  }
  window.scrollTo(0, 0);
}

function keepTheme() {
  const root = document.documentElement;
  const read = () => { try { return localStorage.getItem('dibs-theme'); } catch { return null; } };
  if (read()) root.dataset.theme = read();
  byId('theme').addEventListener('click', () => {
    const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    root.dataset.theme = dark ? 'light' : 'dark';
    try { localStorage.setItem('dibs-theme', root.dataset.theme); } catch { /* a page from disk may have no storage */ }
    window.dispatchEvent(new Event('resize'));
    document.dispatchEvent(new Event('theme'));
  });
}

// begin: what is to be done when a room is entered for the first time.
function keepRooms(begin) {
  for (const room of ROOMS)
    byId(`tab-${room}`).addEventListener('click', () => {
      showRoom(room);
      begin[room]?.();
      delete begin[room];
    });
  document.querySelector('.rooms').addEventListener('keydown', (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const k = ROOMS.findIndex((room) => byId(`tab-${room}`).getAttribute('aria-selected') === 'true');
    const next = byId(`tab-${ROOMS[(k + step + ROOMS.length) % ROOMS.length]}`);
    next.click();
    next.focus();
  });
}

async function main() {
  const data = JSON.parse(byId('data').textContent), module = await loadModule();
  const algorithms = new Map(JSON.parse(runCommand(module, ['list', '--all', '--format', 'json']).output).map((a) => [a.name, a]));
  const jobs = new Jobs(module), run = new Run(module, algorithms);
  const stage = new Stage(run), truth = new Truth(run);
  const controls = new Controls(run, stage), time = new Time(run), runs = new Runs(run), setup = new Setup(run);
  const prove = new Prove(run, jobs, truth.prove), stories = new Stories(run, prove, data, showRoom);
  const race = new Race(algorithms, new Jobs(module)), load = new Load(algorithms, new Jobs(module));
  let address, later;

  keepTheme();
  if (await Service.isThere()) {
    ROOMS.push('service');
    byId('tab-service').hidden = false;
  }
  keepRooms({ load: () => load.start(), service: () => new Service(run, showRoom).begin() });
  document.addEventListener('theme', () => time.draw());
  byId('help').addEventListener('click', () => byId('keys').showModal());
  run.addEventListener('change', () => {
    clearTimeout(later);
    later = setTimeout(() => { // browsers do not like it often
      address = run.address(data.hash);
      history.replaceState(null, '', address.length < ADDRESS_SHOWN ? address : '#');
    }, 150);
  });
  const begin = () => {
    const said = run.openAddress(location.hash, data.hash);
    note(said?.text, said?.bad);
    if (!run.state) run.open('page.txt', 'algorithm ricart-agrawala\nsites 3\n', { name: 'your run', title: 'Three sites, one critical section. Click a site and let it request; then click the messages to deliver them.' });
  };
  window.addEventListener('hashchange', () => location.hash !== address && begin());
  begin();
  window.dibs = { run, stage, time, truth, prove, stories, race, load, data, module, controls, runs, setup }; // for tests, and for curious people
  document.documentElement.dataset.ready = 'true';
}

main().catch((error) => note(`The laboratory could not start: ${error.message}`, true));
