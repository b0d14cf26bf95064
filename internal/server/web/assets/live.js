// Keeps a page up to date: when the service tells that something changed, the page is
// fetched again and its live parts are brought to what they are now, element by element,
// so that focus, what is open and the place in the page stay.

/** Makes one element like another without replacing what is the same. */
export function morph(from, to) {
  if (from.nodeType !== to.nodeType || from.nodeName !== to.nodeName || (from.id || '') !== (to.id || '')) {
    from.replaceWith(to.cloneNode(true));
    return;
  }
  if (from.dataset?.loaded !== undefined && from.dataset.load === to.dataset.load) return;
  if (from.nodeType !== Node.ELEMENT_NODE) {
    if (from.nodeValue !== to.nodeValue) from.nodeValue = to.nodeValue;
    return;
  }
  const keep = name => name === 'open' && from.nodeName === 'DETAILS' || name === 'data-local' || name === 'class' && from.nodeName === 'TR' && from.classList.contains('at');
  for (const { name, value } of [...to.attributes])
    if (!keep(name) && from.getAttribute(name) !== value) from.setAttribute(name, value);
  for (const { name } of [...from.attributes])
    if (!keep(name) && !to.hasAttribute(name)) from.removeAttribute(name);
  if (from === document.activeElement && from.matches('input, textarea, select')) return;
  children(from, to);
}

function children(from, to) {
  const byId = new Map([...from.children].filter(e => e.id).map(e => [e.id, e]));
  let at = from.firstChild;
  for (const next of [...to.childNodes]) {
    const known = next.id && byId.get(next.id);
    if (known) {
      if (known === at) at = at.nextSibling;
      else from.insertBefore(known, at);
      morph(known, next);
    } else if (at && !(at.id && at.nodeType === Node.ELEMENT_NODE)) {
      const old = at;
      at = at.nextSibling;
      morph(old, next);
    } else from.insertBefore(next.cloneNode(true), at);
  }
  while (at) {
    const gone = at;
    at = at.nextSibling;
    gone.remove();
  }
}

/** Follows an address of events for as long as the page is open. */
export function follow(address, { refreshed, say }) {
  let busy = false, again = false, state = document.title;
  async function refresh() {
    if (busy) { again = true; return; }
    busy = true;
    try {
      const answer = await fetch(location.href, { headers: { Accept: 'text/html' }, cache: 'no-store' });
      if (answer.ok && !answer.redirected) bring(new DOMParser().parseFromString(await answer.text(), 'text/html'));
    } catch { /* the next event tries again */ }
    busy = false;
    if (again) { again = false; setTimeout(refresh, 300); }
  }
  function bring(page) {
    for (const now of document.querySelectorAll('[data-live]')) {
      const next = page.getElementById(now.id);
      if (next) morph(now, next);
    }
    document.title = page.title;
    const icon = document.getElementById('favicon'), next = page.getElementById('favicon');
    if (icon && next && icon.getAttribute('href') !== next.getAttribute('href')) icon.setAttribute('href', next.getAttribute('href'));
    refreshed();
    if (state !== page.title) { state = page.title; say(page.title); }
    if (!page.body.dataset.events) events.close();
  }
  const events = new EventSource(address);
  events.addEventListener('changed', refresh);
  events.addEventListener('over', () => { events.close(); refresh(); });
  addEventListener('pagehide', () => events.close());
}
