// What makes pages handier; all of them can be read without.
import { follow } from './live.js';

const units = [[60, 'min'], [3600, 'h'], [86400, 'd'], [2592000, 'mo']];

/** Times drift while a page stays open. */
export function times(within = document) {
  for (const e of within.querySelectorAll('time[datetime]')) {
    const s = (Date.now() - new Date(e.dateTime)) / 1000, d = Math.abs(s);
    let text;
    if (d < 45) text = s < 0 ? 'in a moment' : 'just now';
    else {
      const [size, name] = units.findLast(([size]) => d >= size) ?? units[0];
      text = s < 0 ? `in ${Math.max(1, Math.floor(d / size))} ${name}` : `${Math.max(1, Math.floor(d / size))} ${name} ago`;
    }
    if (e.textContent !== text) e.textContent = text;
    if (!e.dataset.local) {
      e.dataset.local = '1';
      e.title += ' · ' + new Date(e.dateTime).toLocaleString() + ' here';
    }
  }
}

export function say(text) {
  document.getElementById('said').textContent = text;
}

// Buttons that copy: data-copy holds the text, or data-copy-from the ID of the element that has it.
document.addEventListener('click', async event => {
  const b = event.target.closest?.('[data-copy], [data-copy-from]');
  if (b) {
    event.preventDefault();
    const from = b.dataset.copyFrom && document.getElementById(b.dataset.copyFrom);
    const text = b.dataset.copy ?? from?.value ?? from?.textContent ?? '';
    const before = b.innerHTML;
    try {
      await navigator.clipboard.writeText(text);
      b.textContent = 'Copied';
      say('Copied');
    } catch {
      say('It could not be copied: select the text and copy it by hand.');
      from?.select?.();
    }
    setTimeout(() => { b.innerHTML = before; }, 1500);
    return;
  }
  for (const menu of document.querySelectorAll('details.menu[open]'))
    if (!menu.contains(event.target)) menu.open = false;
});

// Filters apply when a choice is made; the button is for whoever has no script. A form that
// changes something looks alike and waits for its button.
for (const form of document.querySelectorAll('form.filters:not([method=post])')) {
  form.addEventListener('change', event => { if (event.target.matches('select, input[type=checkbox]')) form.requestSubmit(); });
  form.addEventListener('submit', () => { for (const e of form.elements) if (e.name && !e.value) e.disabled = true; });
}
addEventListener('pageshow', () => { for (const e of document.querySelectorAll('form.filters [disabled]')) e.disabled = false; });

// data-confirm: a question before what cannot be taken back.
document.addEventListener('submit', event => {
  const q = event.submitter?.dataset.confirm ?? event.target.dataset.confirm;
  if (q && !confirm(q)) event.preventDefault();
});

// data-check-all: a box that ticks the others of its form.
document.addEventListener('change', event => {
  const name = event.target.dataset?.checkAll;
  if (name) for (const box of event.target.form.querySelectorAll(`input[name="${CSS.escape(name)}"]`)) box.checked = event.target.checked;
});

// The theme is kept in this browser; theme.js applies it. Without a script it is the system's.
for (const choice of document.querySelectorAll('.themes')) {
  const kept = document.documentElement.dataset.theme ?? '';
  for (const box of choice.querySelectorAll('input')) box.checked = box.value === kept;
  choice.hidden = false;
  choice.addEventListener('change', event => {
    const theme = event.target.value;
    try {
      if (theme) localStorage.setItem('theme', theme);
      else localStorage.removeItem('theme');
    } catch { say('The browser does not keep it: the theme is for this page only.'); }
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
  });
}

// data-load: a part of the page that another page has, in the element with the ID said-there.
// Without it there is a link to that page.
export function load() {
  for (const part of document.querySelectorAll('[data-load]:not([data-loaded])')) {
    part.dataset.loaded = '';
    part.setAttribute('aria-busy', 'true');
    fetch(part.dataset.load, { headers: { Accept: 'text/html' } }).then(async answer => {
      const there = answer.ok && new DOMParser().parseFromString(await answer.text(), 'text/html').getElementById('said-there');
      if (there) part.replaceChildren(...there.childNodes);
    }).catch(() => { /* the link stays */ }).finally(() => part.removeAttribute('aria-busy'));
  }
}

// data-preview: a form that shows what it would do, in the element with that ID, as it is filled in.
for (const form of document.querySelectorAll('form[data-preview]')) {
  let timer, ask;
  form.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      ask?.abort();
      ask = new AbortController();
      const q = new URLSearchParams(new FormData(form));
      q.delete('csrf');
      try {
        const answer = await fetch(form.dataset.preview + '?' + q, { signal: ask.signal, headers: { Accept: 'text/html' } });
        const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
        const now = document.getElementById('preview'), next = page.getElementById('preview');
        if (next) now.replaceWith(next);
      } catch (e) { if (e.name !== 'AbortError') throw e; }
    }, 250);
  });
}

// data-shows: a choice that shows one part of a form.
function choose() {
  for (const part of document.querySelectorAll('[data-when]')) {
    const [name, value] = part.dataset.when.split('=');
    const chosen = part.closest('form').elements[name];
    part.hidden = !!chosen && chosen.value !== value;
  }
}
document.addEventListener('change', choose);
choose();

// Keys.
const rows = () => [...document.querySelectorAll('.rows tbody tr')];
let first = '';
function go(step) {
  const all = rows();
  if (!all.length) return;
  const at = all.findIndex(r => r.classList.contains('at'));
  const next = all[Math.min(all.length - 1, Math.max(0, at + step))];
  all[at]?.classList.remove('at');
  next.classList.add('at');
  next.querySelector('a.main')?.focus({ preventScroll: true });
  next.scrollIntoView({ block: 'nearest' });
}
const areas = { r: 'runs', t: 'tests', c: 'collections', h: 'health', a: 'activity', s: 'settings' };
document.addEventListener('keydown', event => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches?.('input, textarea, select, [contenteditable]') || document.querySelector('dialog[open]')) return;
  const base = document.body.dataset.base, key = event.key;
  if (first === 'g' && areas[key] && base) {
    location.href = `${base}/${areas[key]}`;
  } else if (key === 'j') go(1);
  else if (key === 'k') go(-1);
  else if (key === 'n' && base) location.href = `${base}/runs/new`;
  else if (key === '?') document.getElementById('keys').showModal();
  else if (key === '/') {
    const box = document.querySelector('input[type=search]');
    if (box) { event.preventDefault(); box.focus(); box.select(); }
  } else if (key === 'Escape') {
    for (const menu of document.querySelectorAll('details.menu[open]')) { menu.open = false; menu.querySelector('summary').focus(); }
  }
  first = key === 'g' ? 'g' : '';
});

times();
setInterval(times, 15000);
load();
if (document.body.dataset.events) follow(document.body.dataset.events, { refreshed() { times(); load(); }, say });
