// Runs in the page, where it is sent as text: it uses nothing from outside of the function. It breaks elements, and
// keeps them broken when the application makes them anew.

/** What to do, and to which elements that are made anew. */
export interface Order {
  kind: 'remove' | 'handler' | 'text' | 'off';
  prints?: Print[];
}

/** By what an element is known when it comes back. */
export interface Print {
  tag: string;
  attributes: string;
  text: string;
  path: string;
  /** No other element looked like it. */
  unique: boolean;
}

/** How many of the elements that were found are broken now, and by what they are known. */
export interface Broken {
  count: number;
  prints: Print[];
}

export function breakElements(found: any[], order: Order): Broken {
  const { document, Node, MutationObserver, WeakSet, WeakMap } = globalThis as any;
  const window: any = globalThis;
  const key = Symbol.for('tas-runner');

  function begin(): any {
    const state: any = { kind: order.kind, prints: order.prints ?? [], marked: new WeakSet(), known: new WeakSet(), texts: new WeakMap(), values: new WeakMap(), off: false, roots: new Set() };
    for (const root of new Set([document, ...found.map(element => element.getRootNode())])) {
      for (const element of (root as any).querySelectorAll('*'))
        state.known.add(element);
    }
    state.observer = new MutationObserver((records: any[]) => records.forEach(look));
    if (state.kind === 'remove')
      forgive();
    if (state.kind === 'handler')
      swallow();
    return state;
  }

  function watch(root: any): void {
    if (state.roots.has(root))
      return;
    state.roots.add(root);
    state.observer.observe(root, { subtree: true, childList: true, characterData: true, attributes: true });
  }

  function look(record: any): void {
    if (state.off)
      return;
    if (record.type === 'characterData') {
      for (let node = record.target.parentNode; state.kind === 'text' && node; node = node.parentNode) {
        if (state.marked.has(node))
          return alter(node);
      }
      return;
    }
    const changed = record.type === 'attributes' ? [record.target] : [...record.addedNodes];
    for (const node of changed) {
      if (node.nodeType !== 1) {
        for (let parent = node.parentNode; state.kind === 'text' && parent; parent = parent.parentNode) {
          if (state.marked.has(parent))
            alter(parent);
        }
        continue;
      }
      for (const element of record.type === 'attributes' ? [node] : [node, ...node.querySelectorAll('*')]) {
        if (state.marked.has(element) || isBack(element))
          hit(element);
      }
      for (let parent = node.parentNode; state.kind === 'text' && record.type === 'childList' && parent; parent = parent.parentNode) {
        if (state.marked.has(parent))
          alter(parent);
      }
    }
  }

  function hit(element: any): void {
    if (!state.marked.has(element)) {
      state.marked.add(element);
      state.values.set(element, { value: element.value, checked: element.checked, selectedIndex: element.selectedIndex });
    }
    if (state.kind === 'remove')
      element.remove();
    else if (state.kind === 'text')
      alter(element);
  }

  function isBack(element: any): boolean {
    if (state.known.has(element))
      return false;
    const like = state.prints.filter((print: Print) => print.tag === element.localName && print.attributes === attributesOf(element) && print.text === textOf(element));
    return like.some((print: Print) => print.unique || print.path === pathOf(element));
  }

  function printOf(element: any): Print {
    const print = { tag: element.localName, attributes: attributesOf(element), text: textOf(element), path: pathOf(element), unique: true };
    for (const other of element.getRootNode().querySelectorAll(print.tag))
      print.unique &&= other === element || attributesOf(other) !== print.attributes || textOf(other) !== print.text;
    return print;
  }

  function attributesOf(element: any): string {
    const names = ['id', 'name', 'type', 'role', 'aria-label', 'href', 'placeholder', 'data-testid', 'data-test-id', 'data-test', 'data-cy', 'data-qa', 'for', 'alt', 'title'];
    return JSON.stringify(names.map(name => element.getAttribute(name)));
  }

  function textOf(element: any): string {
    // What is altered may come back with another text.
    return state.kind === 'text' ? '' : String(element.textContent ?? '').trim().replace(/\s+/g, ' ').slice(0, 80);
  }

  function pathOf(element: any): string {
    const parts = [];
    for (let at = element; at?.parentElement; at = at.parentElement)
      parts.push(at.localName + [...at.parentElement.children].filter((child: any) => child.localName === at.localName).indexOf(at));
    return parts.join('<');
  }

  // Frameworks take their nodes out again, and fail where somebody else has.
  function forgive(): void {
    const { removeChild, insertBefore, replaceChild } = Node.prototype;
    Node.prototype.removeChild = function(child: any) {
      return child && state.marked.has(child) && child.parentNode !== this ? child : removeChild.call(this, child);
    };
    Node.prototype.insertBefore = function(node: any, before: any) {
      return insertBefore.call(this, node, before && state.marked.has(before) && before.parentNode !== this ? null : before);
    };
    Node.prototype.replaceChild = function(node: any, child: any) {
      return child && state.marked.has(child) && child.parentNode !== this ? (this.appendChild(node), child) : replaceChild.call(this, node, child);
    };
  }

  // Events of the element and of what is in it have no effect: nobody hears them, and the browser does nothing either.
  function swallow(): void {
    const types = ['pointerdown', 'pointerup', 'pointermove', 'pointerover', 'pointerenter', 'mousedown', 'mouseup', 'mousemove', 'mouseover', 'mouseenter', 'click', 'dblclick', 'auxclick', 'contextmenu',
      'touchstart', 'touchend', 'touchmove', 'keydown', 'keypress', 'keyup', 'beforeinput', 'input', 'change', 'paste', 'submit', 'reset', 'dragstart', 'dragenter', 'dragover', 'dragend', 'drop', 'toggle', 'focusin', 'focusout', 'focus', 'blur'];
    const listen = (event: any) => {
      const element = state.off ? undefined : event.composedPath().find((node: any) => state.marked.has(node));
      // A form that a marked button submits is submitted by what was done to the button.
      if (!element && !(event.type === 'submit' && event.submitter && state.marked.has(event.submitter)))
        return;
      event.stopImmediatePropagation();
      event.preventDefault();
      if (element && (event.type === 'input' || event.type === 'change'))
        restore(element);
    };
    for (const type of types)
      window.addEventListener(type, listen, { capture: true, passive: false });
  }

  function restore(element: any): void {
    const before = state.values.get(element);
    if (!before)
      return;
    if (element.type === 'file')
      element.value = '';
    else if (element.localName === 'select')
      element.selectedIndex = before.selectedIndex;
    else if (element.type === 'checkbox' || element.type === 'radio')
      element.checked = before.checked;
    else if (before.value !== undefined && element.value !== before.value)
      element.value = before.value;
  }

  // Letters become other letters and numbers other numbers: what only has the same shape still passes.
  function other(text: string): string {
    const turned = text.replace(/[\p{L}\p{N}]/gu, (character: string) => {
      const code = character.codePointAt(0)!;
      if (code >= 48 && code <= 57)
        return String((code - 47) % 10);
      const base = code >= 97 && code <= 122 ? 97 : code >= 65 && code <= 90 ? 65 : 0;
      return base ? String.fromCharCode(base + (code - base + 1) % 26) : String.fromCodePoint(code ^ 1);
    });
    return turned === text ? text + '\u2260' : turned;
  }

  function alter(element: any): void {
    if (element === document.documentElement) {
      // What is said of the page as a whole is its title.
      if (state.texts.get(element) !== document.title) {
        document.title = other(document.title);
        state.texts.set(element, document.title);
      }
      return;
    }
    const nodes = [];
    const walker = document.createTreeWalker(element, 4);
    while (walker.nextNode())
      nodes.push(walker.currentNode);
    const texts = nodes.filter(node => node.nodeValue.trim() !== '' && !/^(script|style)$/.test(node.parentNode.localName));
    for (const node of texts) {
      if (state.texts.get(node) === node.nodeValue)
        continue;
      const now = other(node.nodeValue);
      state.texts.set(node, now);
      node.nodeValue = now;
    }
    const control = typeof element.value === 'string' && /^(input|textarea|select|button|output)$/.test(element.localName);
    if (control && element.localName !== 'button' && element.type !== 'file' && state.texts.get(element) !== element.value)
      alterValue(element);
    else if (!control && !texts.length) {
      const label = element.getAttribute('aria-label');
      if (label === null) {
        const node = document.createTextNode('\u2260');
        state.texts.set(node, node.nodeValue);
        element.appendChild(node);
      } else if (state.texts.get(element) !== label) {
        state.texts.set(element, other(label));
        element.setAttribute('aria-label', other(label));
      }
    }
  }

  function alterValue(element: any): void {
    if (element.localName === 'select')
      element.selectedIndex = (element.selectedIndex + 1) % Math.max(1, element.options.length);
    else
      element.value = other(element.value);
    if (element.localName !== 'select' && element.value === '')
      element.value = '0'; // of an input that takes no such text
    state.texts.set(element, element.value);
  }

  if (order.kind === 'off') {
    if (window[key])
      window[key].off = true;
    window[key]?.observer.disconnect();
    delete window[key];
    return { count: 0, prints: [] };
  }
  const first = !window[key];
  let state: any = { kind: order.kind };
  state = window[key] ??= begin();
  [document, ...found.map(element => element.getRootNode())].forEach(watch);
  if (first && !order.prints) {
    // Before anything changes: what is alike, and where it is.
    const prints = found.map(printOf);
    state.prints = prints;
    found.forEach(hit);
    return { count: found.length, prints };
  }
  for (const element of found) {
    if (state.marked.has(element) || isBack(element))
      hit(element);
  }
  return { count: found.length, prints: state.prints };
}
