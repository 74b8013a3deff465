// dom.mjs - elements, made in one expression: h('button', {onclick: f, class: 'main'}, 'Run').

function make(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (key in element && typeof value !== 'string') element[key] = value;
    else element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const h = (tag, attributes, ...children) => make(document.createElement(tag), attributes, children);
export const svg = (tag, attributes, ...children) => {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== null && value !== false) element.setAttribute(key, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
};
// A small picture for a button; path: in a square of 16.
export const icon = (path) => svg('svg', { class: 'icon', viewBox: '0 0 16 16', width: 14, height: 14, 'aria-hidden': 'true' }, svg('path', { d: path }));
export const byId = (id) => document.getElementById(id);
export const field = (label, control) => h('label', { class: 'field' }, label, control);

export function select(values, chosen, onchange) {
  const element = h('select', { onchange: () => onchange?.(element.value) },
    values.map(([value, text]) => h('option', { value, selected: value === chosen }, text ?? value)));
  return element;
}

// A line for the user above the rooms; nothing clears it.
export function note(text, bad = false) {
  const place = byId('note');
  place.textContent = text ?? '';
  place.hidden = !text;
  place.classList.toggle('bad', bad);
}

export const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ',');
