// Light and dark: as the system says, until the switch is used; always light on paper.
import { byId } from './dom.js';

const listeners = [];
const system = matchMedia('(prefers-color-scheme: dark)');
let chosen = null;
let onPaper = false;

const isDark = () => !onPaper && (chosen ?? (system.matches ? 'dark' : 'light')) === 'dark';

function apply() {
  document.documentElement.dataset.theme = isDark() ? 'dark' : 'light';
  const button = byId('theme');
  button.setAttribute('aria-pressed', String(isDark()));
  for (const listener of listeners) listener();
}

/// Called after the colours, or the width available, have changed.
export function onThemeChange(listener) { listeners.push(listener); }

/// A colour of the page, for a canvas.
export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
export const printing = () => onPaper;

export function startTheme() {
  byId('theme').addEventListener('click', () => { chosen = isDark() ? 'light' : 'dark'; apply(); });
  system.addEventListener('change', apply);
  addEventListener('beforeprint', () => { onPaper = true; apply(); });
  addEventListener('afterprint', () => { onPaper = false; apply(); });
  apply();
}
