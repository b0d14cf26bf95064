// Operators after which a failure is right.
/** Not the same control afterwards, or not the same application: to be reported. */
const not = {
  removed: e => (e.remove(), e),
  'removed-look-alike': e => {
    const copy = e.cloneNode(true);
    // It looks like the control and does nothing: what the browser itself would do is taken as well, and what scripts go by.
    for (const x of [copy, ...copy.querySelectorAll('*')])
      for (const a of [...x.getAttributeNames().filter(a => a.startsWith('data-')), 'id', testID, 'name', 'aria-label', 'href', 'title', 'commandfor', 'command', 'popovertarget', 'form', 'formaction', 'onclick'])
        x.removeAttribute(a);
    if (copy.tagName === 'A')
      copy.setAttribute('href', '#help');
    if (copy.tagName === 'BUTTON')
      copy.setAttribute('type', 'button');
    const word = pick(['Help', 'Share', 'Print', 'Compare', 'Contact us']);
    if (isField(copy))
      copy.setAttribute('aria-label', word);
    else if (!setText(copy, word))
      return false;
    (rowOf(e) || e.parentElement).append(copy);
    e.remove();
    return e;
  },
  'section-removed': e => {
    const s = e.closest('section, fieldset, aside, form, article, dialog, table') || e.parentElement;
    return s !== document.body && s.tagName !== 'MAIN' && (s.remove(), e);
  },
  'row-removed': e => {
    const row = rowOf(e);
    return !!row && row !== e && (row.remove(), e);
  },
  'rows-gone': e => {
    const row = rowOf(e);
    if (!row)
      return false;
    const list = row.parentElement;
    list.replaceChildren(make(list.tagName === 'TBODY' ? 'tr' : 'li', {}, 'Nothing here yet'));
    return e;
  },
  disabled: e => {
    if (!/^(button|input|select|textarea)$/i.test(e.tagName))
      return false;
    e.disabled = true;
    return e;
  },
  hidden: e => (e.hidden = true, e.style.display = 'none', e),
  'hidden-by-sheet': e => sheet(e, 'display: none !important'),
  'renamed-disabled': e => rename(e) && not.disabled(e),
  'renamed-hidden': e => rename(e) && not.hidden(e),
  'renamed-hidden-by-sheet': e => rename(e) && sheet(e, 'visibility: hidden !important'),
  'renamed-dead': e => !checks.includes(state.verb) && rename(e) && dead(e),
  'renamed-500': e => !checks.includes(state.verb) && rename(e),
  dead: e => !checks.includes(state.verb) && dead(e),
  'labels-swapped': e => {
    const name = x => x.getAttribute('aria-label') || (labelOf(x) ? mainText(labelOf(x)) : mainText(x));
    const others = alike(e).filter(x => name(x) && name(x) !== name(e) && x.hasAttribute('aria-label') === e.hasAttribute('aria-label') && !!labelOf(x) === !!labelOf(e));
    if (!others.length || !name(e))
      return false;
    const other = pick(others), a = name(e), b = name(other);
    const put = (x, s) => x.hasAttribute('aria-label') ? x.setAttribute('aria-label', s) : setText(labelOf(x) || x, s);
    put(e, b);
    put(other, a);
    return e;
  },
  'request-500': e => !checks.includes(state.verb) && e,
  'wrong-value': e => !isField(e) && number(e, n => n + pick([7, 13, 40])),
  'off-by-one': e => !isField(e) && number(e, n => n > 0 ? n + pick([-1, 1]) : 1),
  'price-changed': e => {
    let done = false;
    for (const n of texts(rowOf(e) || e.closest('section, article, main') || e))
      if (/[€$£]\s?\d/.test(n.nodeValue)) {
        n.nodeValue = n.nodeValue.replace(/\d+/, d => String(Number(d) + 3));
        done = true;
      }
    return done && e;
  },
  'wrong-words': e => !isField(e) && mainText(e).length > 2 && setText(e, pick(checks.includes(state.verb) ? ['Something else', 'No result', 'Unknown', 'Not available'] : ['undefined', 'No result', 'Unknown', 'Not available'])) && e,
  'wrong-row': e => {
    const row = rowOf(e);
    const twin = row && alike(e).find(x => rowOf(x) && rowOf(x) !== row && rowOf(x).parentElement === row.parentElement && x.className === e.className);
    return !!twin && (swapNodes(e, twin), e);
  },
  'wrong-record': e => {
    const row = rowOf(e);
    const other = row && [...row.parentElement.children].find(x => x !== row && x.tagName === row.tagName && texts(x).length);
    if (!other)
      return false;
    const a = texts(row)[0], b = texts(other)[0], was = a.nodeValue;
    a.nodeValue = b.nodeValue;
    b.nodeValue = was;
    return e;
  },
  'link-elsewhere': e => {
    const l = e.closest('a[href]');
    return !!l && (l.setAttribute('href', pick(['/nowhere', '/nowhere/else', '#'])), e);
  },
  'other-page': e => {
    const l = e.closest('a[href^="/"]');
    const others = [...document.querySelectorAll('a[href^="/"]')].filter(x => x.pathname !== l?.pathname && x.pathname !== location.pathname);
    return !!l && others.length > 0 && (l.setAttribute('href', pick(others).getAttribute('href')), e);
  },
  'renamed-link-elsewhere': e => e.tagName === 'A' && e.hasAttribute('href') && rename(e) && not['link-elsewhere'](e),
  destructive: e => {
    if (isField(e) || checks.includes(state.verb))
      return false;
    const other = make('button', { type: 'button', class: e.getAttribute('class') || '' }, pick(['Delete', 'Delete account', 'Remove all', 'Cancel order']));
    e.replaceWith(other);
    return other;
  },
  'became-text': e => /^(input|select|textarea|button)$/i.test(e.tagName) && (e.replaceWith(make('span', {}, e.value || mainText(e))), e),
  'wording': e => !isField(e) && /^(text|contains)$/.test(state.verb) && /\p{L}{3}/u.test(mainText(e)) && setText(e, translated(mainText(e), 'syn') || mainText(e) + ' now') && e,
  unsteady: e => {
    if (checks.includes(state.verb) || isField(e))
      return false;
    e.animate([{ transform: 'translateX(0)' }, { transform: 'translateX(40px)' }], { duration: 300, iterations: Infinity, direction: 'alternate' });
    return e;
  },
  offline: e => !checks.includes(state.verb) && e,
  'error-banner': e => {
    const root = e.closest('main, [role=main], section, .swagger-ui, body');
    root.replaceChildren(make('div', { role: 'alert', class: 'error' }, pick(['Something went wrong. Please try again later.', 'An error occurred', '500: Internal error'])));
    return e;
  },
  'sign-in-wall': e => {
    const root = e.closest('main, [role=main]') || document.body;
    const form = make('form', { action: '/login' });
    for (const [type, name] of [['text', 'User'], ['password', 'Password']]) {
      const label = make('label', {}, name + ' ');
      label.append(make('input', { type, name: name.toLowerCase() }));
      form.append(label);
    }
    form.append(make('button', {}, 'Continue'));
    root.replaceChildren(make('h1', {}, 'Please sign in'), form);
    return e;
  },
  covered: e => {
    const cover = make('div', { class: 'cover' });
    cover.style.cssText = 'position:fixed;inset:0;z-index:2147483647;background:#fff8';
    (e.closest('dialog') || document.body).append(cover);
    return !checks.includes(state.verb) && e;
  },
};
