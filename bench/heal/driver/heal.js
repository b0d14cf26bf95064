// Operators get the element that a step means and answer the element that is it afterwards, or false where they do
// not apply.
/** The same control afterwards, so a test that cannot find it is to be healed. */
const heal = {
  id: e => {
    if (!e.id)
      return false;
    const was = e.id;
    e.id = otherName(was);
    for (const a of ['for', 'form', 'aria-labelledby', 'aria-describedby', 'aria-controls', 'list'])
      for (const x of document.querySelectorAll(`[${a}~="${CSS.escape(was)}"]`))
        x.setAttribute(a, x.getAttribute(a).split(' ').map(v => v === was ? e.id : v).join(' '));
    return e;
  },
  class: e => {
    if (!e.classList.length)
      return false;
    e.setAttribute('class', [...e.classList].map(otherName).join(' '));
    return e;
  },
  'class-hashed': e => {
    if (!e.classList.length)
      return false;
    e.setAttribute('class', [...e.classList].map(hash).join(' '));
    return e;
  },
  testid: e => {
    if (!e.hasAttribute(testID))
      return false;
    e.setAttribute(testID, otherName(e.getAttribute(testID)));
    return e;
  },
  'testid-removed': e => e.hasAttribute(testID) && (e.removeAttribute(testID), e),
  'id-removed': e => {
    if (!e.id)
      return false;
    const label = document.querySelector(`label[for="${CSS.escape(e.id)}"]`);
    if (label) {
      label.removeAttribute('for');
      label.append(e);
    }
    e.removeAttribute('id');
    return e;
  },
  'attributes-removed': e => {
    let some = false;
    for (const a of [...e.attributes])
      if (/^(class|title|id)$|^data-/.test(a.name) && a.name !== testID && !(a.name === 'id' && labelOf(e)) && !(a.name === 'title' && !texts(e).length)) {
        e.removeAttribute(a.name);
        some = true;
      }
    return some && e;
  },
  wrap: e => {
    const box = make(pick(['div', 'span']), { class: pick(['wrapper', 'control', hash()]) });
    e.replaceWith(box);
    box.append(e);
    return e;
  },
  'wrap-deep': e => {
    const box = make('div', { class: 'outer' }), inner = make('div', { class: 'inner' });
    e.replaceWith(box);
    box.append(inner);
    inner.append(make('span', { class: 'hint' }), e);
    return e;
  },
  'nested-deeper': e => {
    const root = e.closest('main, [role=main]') || document.body.firstElementChild;
    if (!root || root === e || !root.contains(e))
      return false;
    const box = make('div', { class: 'grid' }), inner = make('div', { class: 'column' });
    inner.append(...root.childNodes);
    box.append(inner);
    root.append(box);
    return e;
  },
  move: e => {
    const form = e.closest('form'), to = e.parentElement.parentElement;
    if (!to || to === document.body || to === document.documentElement || /^(ul|ol|tr|tbody|table|dl|select|label)$/i.test(to.tagName) || form && !form.contains(to) || labelOf(e)?.contains(e))
      return false;
    to.append(e);
    return e;
  },
  'move-within': e => {
    if (e.parentElement.children.length < 3)
      return false;
    e === e.parentElement.firstElementChild ? e.parentElement.append(e) : e.parentElement.prepend(e);
    return e;
  },
  reorder: e => {
    const all = [...e.parentElement.children];
    if (all.length < 2)
      return false;
    e.parentElement.append(...all.reverse());
    return e;
  },
  'list-reordered': e => {
    const row = rowOf(e);
    const list = row && [...row.parentElement.children].filter(x => x.tagName === row.tagName);
    if (!list || list.length < 2)
      return false;
    for (const x of list.sort(() => state.random() - 0.5))
      x.parentElement.append(x);
    return e;
  },
  'row-inserted': e => {
    const row = rowOf(e);
    if (!row || !mainText(row) || row.querySelector('[id]') || row.contains(document.activeElement))
      return false;
    const other = row.cloneNode(true);
    const name = texts(other)[0];
    if (texts(row)[0].parentElement === e || e.contains(texts(row)[0]))
      return false;
    const was = name.nodeValue.trim(), now = pick(['Aurora Special', 'Night Special', 'Winter Special']);
    for (const x of [other, ...other.querySelectorAll('*')]) {
      for (const a of x.attributes)
        if (a.value.includes(was))
          x.setAttribute(a.name, a.value.replaceAll(was, now));
      for (const n of x.childNodes)
        if (n.nodeType === 3)
          n.nodeValue = n.nodeValue.replaceAll(was, now);
    }
    row.before(other);
    return e;
  },
  'look-alike': e => {
    if (isField(e) && labelOf(e)?.contains(e))
      return false;
    const aside = make('aside', { 'aria-label': pick(['Suggestions', 'Quick links', 'Recently used']) });
    const copy = e.cloneNode(true);
    for (const x of [copy, ...copy.querySelectorAll('*')])
      for (const a of ['id', testID])
        x.removeAttribute(a);
    aside.append(copy);
    pick([x => document.body.prepend(x), x => document.body.append(x)])(aside);
    return e;
  },
  'look-alike-longer': e => {
    if (isField(e) || checks.includes(state.verb))
      return false;
    const copy = e.cloneNode(true);
    for (const x of [copy, ...copy.querySelectorAll('*')])
      for (const a of ['id', testID, 'href', 'name'])
        x.removeAttribute(a);
    if (copy.tagName === 'A')
      copy.setAttribute('href', '#later');
    if (copy.tagName === 'BUTTON')
      copy.setAttribute('type', 'button');
    const more = pick([' for later', ' as a gift', ' with help']);
    if (copy.hasAttribute('aria-label'))
      copy.setAttribute('aria-label', copy.getAttribute('aria-label') + more);
    else if (!setText(copy, mainText(copy) + more))
      return false;
    pick([x => e.before(x), x => e.after(x)])(copy);
    return e;
  },
  synonym: e => reword(e, s => translated(s, 'syn')),
  translation: e => reword(e, s => translated(s, 'de')),
  'text-longer': e => reword(e, s => pick([`${s} now`, `Please ${s[0].toLowerCase()}${s.slice(1)}`, `My ${s}`])),
  'text-shorter': e => reword(e, s => s.split(' ').length > 2 && s.split(' ').slice(0, -1).join(' ')),
  'letter-case': e => reword(e, s => pick([s.toUpperCase(), s.toLowerCase(), s.replace(/\b\w/g, c => c.toUpperCase())])),
  blanks: e => reword(e, s => s.includes(' ') && pick([s.replace(' ', '  '), ` ${s.replace(' ', '\n')} `])),
  punctuation: e => reword(e, s => pick([`${s}!`, `${s}:`, `${s} …`, `${s} →`])),
  icon: e => {
    if (isField(e) || checks.includes(state.verb) || e.hasAttribute('aria-label') || !mainText(e))
      return false;
    const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    svg.setAttribute('viewBox', '0 0 8 8');
    svg.setAttribute('width', '8');
    svg.setAttribute('aria-hidden', 'true');
    e.prepend(state.random() < 0.3 ? svg : make('span', { class: 'icon' }, pick(['★ ', '→ ', '✓ '])));
    return e;
  },
  label: e => {
    const l = labelOf(e);
    return !!l && !e.hasAttribute('aria-label') && setText(l, translated(mainText(l), pick(['syn', 'syn', 'de'])) || pick([`Your ${mainText(l)}`, `${mainText(l)} *`])) && e;
  },
  'label-to-placeholder': e => {
    const l = labelOf(e);
    if (!l || l.contains(e) || !/^(input|textarea)$/i.test(e.tagName) || /^(checkbox|radio)$/.test(e.type))
      return false;
    e.setAttribute('placeholder', mainText(l));
    l.remove();
    return e;
  },
  'aria-label': e => {
    const was = e.getAttribute('aria-label');
    if (!was || checks.includes(state.verb) && !isField(e))
      return false;
    const now = translated(was, pick(['syn', 'syn', 'de'])) || pick([`${was} now`, `Your ${was}`]);
    e.setAttribute('aria-label', now);
    return e;
  },
  'aria-label-removed': e => !isField(e) && e.hasAttribute('aria-label') && texts(e).length > 0 && !checks.includes(state.verb) && (e.removeAttribute('aria-label'), e),
  placeholder: e => e.hasAttribute('placeholder') && (e.setAttribute('placeholder', pick(['Type here', 'For example …', `${e.getAttribute('placeholder')} …`])), e),
  title: e => {
    const was = e.getAttribute('title');
    return !!was && (e.setAttribute('title', translated(was, 'syn') || `${was} now`), e);
  },
  tag: e => {
    switch (e.tagName) {
      case 'BUTTON': return pick([() => retag(e, 'div', { role: 'button', tabindex: '0' }), () => retag(e, 'a', { role: 'button', tabindex: '0' })])();
      case 'A': return retag(e, 'button', { type: 'button' });
      case 'H1': case 'H2': case 'H3': case 'H4': return retag(e, 'div', { role: 'heading', 'aria-level': e.tagName[1] });
      case 'P': case 'DD': case 'SPAN': case 'DIV': return !e.querySelector('button, input, a') && retag(e, pick(['strong', 'section'].concat(e.tagName === 'DIV' ? [] : ['div'])));
    }
    return false;
  },
  'tag-bare': e => e.tagName === 'BUTTON' && retag(e, pick(['div', 'span']), { tabindex: '0' }),
  'heading-level': e => /^H[1-5]$/.test(e.tagName) && retag(e, 'h' + (Number(e.tagName[1]) + 1)),
  'input-type': e => e.tagName === 'INPUT' && /^(search|email|number)$/.test(e.type) && (e.setAttribute('type', 'text'), e),
  landmark: e => {
    const l = landmarkOf(e.parentElement);
    return !!l && (retag(l, 'div'), ['aria-label', 'aria-labelledby'].forEach(a => l.removeAttribute(a)), e);
  },
  'region-name': e => {
    const l = e.parentElement.closest('[aria-label]');
    return !!l && (l.setAttribute('aria-label', translated(l.getAttribute('aria-label'), 'syn') || `All ${l.getAttribute('aria-label')}`), e);
  },
  'list-to-boxes': e => {
    const row = e.closest('li');
    if (!row || row === e)
      return false;
    const list = row.parentElement;
    for (const x of [...list.children])
      retag(x, 'div');
    retag(list, 'div');
    return e;
  },
};

/** Of the whole page at once. */
const page = {
  'testid-prefix': () => {
    const all = document.querySelectorAll(`[${testID}]`);
    for (const x of all)
      if (!x.getAttribute(testID).startsWith('shop.'))
        x.setAttribute(testID, 'shop.' + x.getAttribute(testID));
    return all.length > 0;
  },
  'ids-renamed': () => {
    const all = [...document.querySelectorAll('[id]')].filter(x => !x.id.startsWith('app-'));
    for (const x of all) {
      const was = x.id;
      x.id = 'app-' + was;
      for (const a of ['for', 'form', 'aria-labelledby', 'aria-describedby', 'aria-controls'])
        for (const y of document.querySelectorAll(`[${a}~="${CSS.escape(was)}"]`))
          y.setAttribute(a, y.getAttribute(a).split(' ').map(v => v === was ? x.id : v).join(' '));
    }
    return all.length > 0;
  },
  'classes-prefixed': () => {
    for (const x of document.querySelectorAll('[class]:not(svg, svg *)'))
      x.setAttribute('class', [...x.classList].map(c => c.startsWith('x-') ? c : 'x-' + c).join(' '));
    return true;
  },
};
