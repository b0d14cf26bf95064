// What the benchmark's operators are made of, in the page. It is the body of a function together with heal.js and
// harm.js: see driver.mjs. Nothing is left on the page by which a locator could tell what was meant: that is in
// properties of elements.
// Frameworks remove and insert by the parents they remember; what was wrapped or moved has another one now.
const removeChild = Node.prototype.removeChild, insertBefore = Node.prototype.insertBefore;
Node.prototype.removeChild = function (child) {
  return removeChild.call(child.parentNode && child.parentNode !== this ? child.parentNode : this, child);
};
Node.prototype.insertBefore = function (child, before) {
  return insertBefore.call(before && before.parentNode && before.parentNode !== this ? before.parentNode : this, child, before);
};

const state = { random: Math.random, verb: '' };
const pick = list => list[Math.floor(state.random() * list.length)];
const make = (tag, attributes = {}, text = '') => {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(attributes))
    e.setAttribute(k, v);
  e.textContent = text;
  return e;
};
const seeded = seed => () => {
  seed |= 0; seed = seed + 0x6D2B79F5 | 0;
  let t = Math.imul(seed ^ seed >>> 15, 1 | seed);
  t = t + Math.imul(t ^ t >>> 7, 61 | t) ^ t;
  return ((t ^ t >>> 14) >>> 0) / 4294967296;
};

const checks = ['text', 'contains', 'visible', 'hidden', 'count']; // steps for which words are what is checked
const isField = e => /^(input|select|textarea|output)$/i.test(e.tagName);
const rowOf = e => e.closest('li, tr, article, [role=row], [role=listitem], [role=treeitem]');
const testID = 'data-testid';

/** The text nodes of an element that say something. */
const texts = e => {
  const out = [], walk = document.createTreeWalker(e, NodeFilter.SHOW_TEXT);
  for (let n = walk.nextNode(); n; n = walk.nextNode())
    if (n.nodeValue.trim() && !n.parentElement.closest('script, style, svg'))
      out.push(n);
  return out;
};
const setText = (e, to) => {
  const all = texts(e);
  if (!all.length)
    return false;
  const main = all.reduce((a, b) => b.nodeValue.length > a.nodeValue.length ? b : a);
  main.nodeValue = main.nodeValue.replace(main.nodeValue.trim(), () => to);
  return true;
};
const mainText = e => {
  const all = texts(e);
  return all.length ? all.reduce((a, b) => b.nodeValue.length > a.nodeValue.length ? b : a).nodeValue.trim() : '';
};
const labelOf = e => isField(e) ? (e.id && document.querySelector(`label[for="${CSS.escape(e.id)}"]`)) || e.closest('label') : null;

/** Changes what a person would call a control, wherever it is written; false for one with no words. */
const reword = (e, change) => {
  const checking = checks.includes(state.verb) && !isField(e);
  if (checking)
    return false;
  const label = labelOf(e);
  for (const [get, set] of [
    [() => e.getAttribute('aria-label'), v => e.setAttribute('aria-label', v)],
    [() => label && mainText(label), v => setText(label, v)],
    [() => !isField(e) && mainText(e), v => setText(e, v)],
    [() => /^(submit|button)$/.test(e.type) && e.tagName === 'INPUT' && e.value, v => { e.value = v; e.setAttribute('value', v); }],
    [() => e.getAttribute('placeholder'), v => e.setAttribute('placeholder', v)],
    [() => e.getAttribute('title'), v => e.setAttribute('title', v)],
  ]) {
    const was = get();
    if (!was)
      continue;
    const now = change(was);
    if (!now || now === was)
      return false;
    set(now);
    return e;
  }
  return false;
};

const translated = (s, to) => {
  const all = phrases.filter(p => p[to] && new RegExp(`\\b${p.en}\\b`, 'i').test(s)).sort((a, b) => b.en.length - a.en.length);
  if (!all.length)
    return '';
  const other = [].concat(all[0][to]);
  return s.replace(new RegExp(`\\b${all[0].en}\\b`, 'i'), () => pick(other));
};
const otherName = s => {
  const words = s.split(/[-_\s]+|(?<=[a-z])(?=[A-Z])/).filter(Boolean);
  return pick([
    () => words.map(w => w.toLowerCase()).join('_') + '_el', () => 'js-' + s, () => words.reverse().join('-').toLowerCase() + '-item',
    () => words.map((w, i) => i ? w[0].toUpperCase() + w.slice(1) : w.toLowerCase()).join('') + 'Control', () => 'new-' + s, () => s + '-2',
  ])();
};
const hash = () => 'c' + Math.floor(state.random() * 0xffffffff).toString(36).padStart(6, '0');

const carry = (from, to) => {
  if (from.__tasSteps)
    to.__tasSteps = from.__tasSteps;
  return to;
};
/** Puts an element of another kind in an element's place. Presses reach the old one as if it were still there. */
const retag = (e, tag, attributes = {}) => {
  const out = make(tag, attributes);
  for (const a of e.attributes)
    if (!['type', 'href', 'value', 'name', 'target'].includes(a.name) || tag === e.tagName.toLowerCase())
      out.setAttribute(a.name, a.value);
  out.append(...e.childNodes);
  e.replaceWith(out);
  if (/^(a|button)$/i.test(e.tagName))
    out.addEventListener('click', event => {
      event.preventDefault();
      event.stopPropagation();
      e.style.display = 'none';
      out.after(e);
      e.click();
      setTimeout(() => e.remove(), 0);
    });
  return carry(e, out);
};
const landmarkOf = e => e.closest('main, nav, aside, article, section[aria-label], section, form[aria-label], header, fieldset');
const rename = e => {
  let done = heal.testid(e);
  done = heal.id(e) || done;
  done = reword(e, s => translated(s, 'syn') || translated(s, 'de') || s + ' …') || done;
  if (e.className && typeof e.className === 'string')
    done = heal.class(e) || done;
  return done;
};
const dead = e => {
  for (const type of ['click', 'submit', 'change', 'input', 'keydown', 'mousedown', 'mouseup', 'pointerdown', 'pointerup'])
    window.addEventListener(type, event => {
      if (event.target === e || e.contains(event.target) || type === 'submit' && event.submitter === e) {
        event.stopImmediatePropagation();
        if (type === 'click' || type === 'submit')
          event.preventDefault();
      }
    }, true);
  return e;
};
const sheet = (e, css) => {
  const name = hash();
  e.classList.add(name);
  const s = new CSSStyleSheet();
  s.replaceSync(`.${name} { ${css} }`);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, s];
  return e;
};
const alike = e => [...document.querySelectorAll(e.tagName)].filter(x => x !== e && x.getBoundingClientRect().width > 0 && !e.contains(x) && !x.contains(e));
const swapNodes = (a, b) => {
  const mark = document.createComment('');
  a.replaceWith(mark);
  b.replaceWith(a);
  mark.replaceWith(b);
};
const number = (e, change) => {
  for (const n of texts(e)) {
    const to = n.nodeValue.replace(/\d+/, d => String(change(Number(d))).padStart(d.length, '0'));
    if (to !== n.nodeValue) {
      n.nodeValue = to;
      return e;
    }
  }
  return false;
};

const every = () => [...document.querySelectorAll('*')];
const steps = e => e.__tasSteps ??= new Set();
window.__tas = {
  mark(all, j) {
    if (all.length === 1 && !every().some(e => e.__tasSteps?.has(j)))
      steps(all[0]).add(j);
  },
  apply({ ops, seed, step, kind }) {
    state.random = seeded(seed);
    state.verb = kind;
    let did = false;
    for (const name of ops) {
      if (page[name]) {
        did = !!page[name]() || did;
        continue;
      }
      const e = every().find(e => e.__tasSteps?.has(step));
      if (!e)
        return did;
      const key = `__tas-${name}`;
      if (e[key])
        continue;
      const out = (heal[name] || not[name])(e);
      if (!out)
        return false;
      out[key] = true;
      did = true;
    }
    return did;
  },
  /** Breaks what a test's own locator found: see driver.mjs. */
  sabotage(e, kind) {
    switch (kind) {
      case 'remove': return e.remove(), true;
      case 'words': return setText(e, 'Something else entirely');
      case 'dead': {
        const was = e.value, checked = e.checked, chosen = e.selectedIndex;
        if (/^(input|textarea|select)$/i.test(e.tagName)) // nor does it keep what is done to it
          window.addEventListener('input', event => {
            if (event.target === e)
              e.type === 'checkbox' || e.type === 'radio' ? e.checked = checked : e.tagName === 'SELECT' ? e.selectedIndex = chosen : e.value = was;
          }, true);
        dead(e);
      }
    }
    return true;
  },
  point(i) {
    const e = every().find(e => e.__tasSteps?.has(i));
    e?.setAttribute('data-tas-truth', i);
    return !!e;
  },
  right(all, i) {
    if (all.length !== 1)
      return all.length ? 'many' : 'none';
    const truth = every().filter(e => e.__tasSteps?.has(i));
    if (!truth.length)
      return 'gone';
    const control = 'a, button, input, select, textarea, [role=button]';
    const same = truth.some(t => t === all[0] || (t.contains(all[0]) || all[0].contains(t)) && (t.matches(control) || all[0].matches(control)) && (t.contains(all[0]) ? t : all[0]).querySelectorAll(control).length <= 1);
    return same ? 'right' : 'wrong';
  },
};
