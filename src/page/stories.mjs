// stories.mjs - every scenario of the catalogue as a story, and every known mistake, to be found by the checker.
import { byId, h } from './dom.mjs';

// Worked examples of publications and lectures come first.
const FIRST = /figure|lecture|states|theorem/;

function nameOf(file) {
  return file.replace(/\.txt$/, '').replaceAll('-', ' ');
}

// The words of "dibs check" that show a mistake. "2, 1 crash, 1 restart": requests of each site, then what may fail.
export function mistakeWords(m) {
  const [requests, ...failures] = m.requests.split(', ');
  return ['check', m.algorithm, '--set', `mistake=${m.mistake}`, '--rule', m.rule, '--sites', m.sites, '--requests', requests, '--order', m.order,
    ...failures.flatMap((failure) => [`--${failure.split(' ')[1]}`, '1'])];
}

export class Stories {
  constructor(run, prove, data, show) {
    Object.assign(this, { run, prove, data, showRoom: show });
    this.stories = h('div');
    this.mistakes = h('ul', { class: 'cards' });
    this.filter = h('input', { type: 'search', placeholder: 'suzuki, crash, figure …', 'aria-label': 'Show stories with this word', oninput: () => this.list() });
    byId('room-stories').append(h('div', { class: 'sheet' },
      h('p', {}, 'A story is a run with captions: the tests of the catalogue. Step through it both ways, or leave it at any place by a move of your own.'),
      h('div', { class: 'form' }, this.filter), this.stories,
      h('h2', { class: 'title' }, 'Mistakes'), h('p', {}, 'Known mistakes, published, tempting or commonly retold. The checker looks for each in front of you, in the smallest system that shows it.'), this.mistakes));
    this.list();
  }

  list() {
    const word = this.filter.value.trim().toLowerCase();
    const fits = (...texts) => texts.some((text) => text.toLowerCase().includes(word));
    const all = this.data.stories.filter((story) => fits(story.file, nameOf(story.file), story.head));
    const flawed = (story) => /as-published|tempting|as-retold/.test(story.file);
    const groups = [['Worked examples', all.filter((s) => FIRST.test(s.file) && !flawed(s))], ['The algorithms', all.filter((s) => !FIRST.test(s.file) && !flawed(s))], ['Mistakes, step by step', all.filter(flawed)]];
    this.stories.replaceChildren(...groups.filter(([, stories]) => stories.length).flatMap(([title, stories]) => [h('h2', { class: 'title' }, title),
      h('ul', { class: 'cards' }, stories.map((story) => h('li', {}, h('button', { type: 'button', 'data-story': story.file, onclick: () => this.open(story) },
        h('strong', {}, nameOf(story.file)), h('small', {}, story.head.length > 180 ? `${story.head.slice(0, 177)}…` : story.head)))))]));
    this.mistakes.replaceChildren(...this.data.mistakes.filter((m) => fits(m.algorithm, m.mistake)).map((m) => h('li', {},
      h('button', { type: 'button', 'data-mistake': `${m.algorithm} ${m.mistake}`, onclick: () => this.find(m) }, h('strong', {}, `${m.algorithm}: ${m.mistake.replaceAll('-', ' ')}`),
        h('small', {}, this.what(m)), h('small', {}, `${m.verdict} in ${m.moves} moves, ${m.sites} sites`)))));
  }

  what(m) {
    return this.run.algorithms.get(m.algorithm)?.mistakes.find(({ name }) => name === m.mistake)?.what ?? '';
  }

  open(story) {
    this.run.open(story.file, story.text, { title: story.head, name: nameOf(story.file) });
    this.run.isStory = true;
    this.showRoom('stage');
  }

  find(m) {
    this.showRoom('stage');
    return this.prove.start(mistakeWords(m), `${m.algorithm}, ${m.mistake.replaceAll('-', ' ')}: ${this.what(m)}`);
  }
}
