"use strict";
// Runs in the page, where it is sent as text: it uses nothing from outside of the function. It writes down the page in
// the form of the snapshots of Playwright's traces, so that the service reads both alike: [tag, {attributes}, children…].
Object.defineProperty(exports, "__esModule", { value: true });
exports.pageLimits = void 0;
exports.readPage = readPage;
/** What the service reads of a page: see internal/evidence/page.go. */
exports.pageLimits = { elements: 5000, characters: 2 * 1024 * 1024, depth: 390, text: 1000, attribute: 2000 };
/** The page as JSON; '' for one that is too large. What people typed is left out. */
function readPage(root, limits) {
    let elements = 0, left = limits.characters;
    // Nobody sees them and no locator means them; that they are there still counts.
    const unseen = new Set(['script', 'style', 'meta', 'link', 'head', 'base', 'title', 'noscript', 'template', 'path', 'g', 'defs', 'use', 'symbol']);
    const labels = new Set(['submit', 'button', 'reset']);
    function write(text) {
        if ((left -= text.length + 1) < 0)
            throw new RangeError('too large');
        return text;
    }
    function attributesOf(element, tag) {
        const all = [];
        for (const { name, value } of element.attributes) {
            const typed = name === 'value' && (tag === 'textarea' || tag === 'input' && !labels.has(element.type));
            if (typed || name.startsWith('on') || name.startsWith('__playwright') || name === 'nonce' || name === 'srcdoc')
                continue;
            all.push(JSON.stringify(name) + ':' + JSON.stringify(value.slice(0, limits.attribute)));
        }
        return write('{' + all.join(',') + '}');
    }
    function childrenOf(node, depth) {
        let out = '';
        for (let child = node.firstChild; child; child = child.nextSibling) {
            if (child.nodeType === 3)
                out += write(',' + JSON.stringify(child.nodeValue.slice(0, limits.text)));
            else if (child.nodeType === 1 && elements < limits.elements && depth < limits.depth)
                out += ',' + visit(child, depth + 1);
        }
        return out;
    }
    function visit(element, depth) {
        const tag = element.localName;
        elements++;
        if (unseen.has(tag))
            return write('[' + JSON.stringify(tag) + ',{}]');
        let out = write('[' + JSON.stringify(tag) + ',') + attributesOf(element, tag);
        if (element.shadowRoot && depth < limits.depth)
            out += write(',["template",{"__playwright_shadow_root_":"open"}') + childrenOf(element.shadowRoot, depth + 1) + ']';
        if (tag !== 'textarea') // its text is its value
            out += childrenOf(element, depth);
        return out + ']';
    }
    try {
        return root ? visit(root, 0) : '';
    }
    catch {
        return '';
    }
}
