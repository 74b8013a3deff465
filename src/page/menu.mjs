// menu.mjs - what can be done with a site or a message. An action that is impossible is grey, and says why.
import { h, byId, note } from './dom.mjs';

let opened = null;

export function closeMenu() {
  const back = opened?.back;
  opened?.element.remove();
  opened = null;
  return back;
}

// items: [{text, why, run}]. anchor: the element that was clicked. back: called to give the focus back.
export function openMenu(title, items, anchor, back) {
  closeMenu();
  const place = byId('stage'), frame = place.getBoundingClientRect(), at = anchor.getBoundingClientRect();
  const close = () => closeMenu()?.();
  const element = h('div', { class: 'menu', role: 'menu', 'aria-label': title }, h('p', { 'aria-hidden': 'true' }, title),
    items.map((item) => h('button', {
      role: 'menuitem', type: 'button', 'aria-disabled': item.why ? 'true' : null,
      onclick: () => {
        if (item.why) return;
        close();
        const wrong = item.run();
        note(wrong ?? '', Boolean(wrong));
      },
    }, item.text, item.why ? h('small', {}, item.why) : null)));
  element.addEventListener('keydown', (event) => {
    const buttons = [...element.querySelectorAll('button')], k = buttons.indexOf(document.activeElement);
    if (event.key === 'Escape') close();
    else if (event.key === 'ArrowDown') buttons[(k + 1) % buttons.length].focus();
    else if (event.key === 'ArrowUp') buttons[(k + buttons.length - 1) % buttons.length].focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  place.append(element);
  element.style.left = `${Math.max(4, Math.min(at.left - frame.left + at.width / 2, frame.width - element.offsetWidth - 4))}px`;
  element.style.top = `${Math.max(4, at.top - frame.top + at.height / 2)}px`;
  opened = { element, back };
  (element.querySelector('button:not([aria-disabled])') ?? element.querySelector('button')).focus();
}

document.addEventListener('pointerdown', (event) => {
  if (opened && !opened.element.contains(event.target)) closeMenu();
});
