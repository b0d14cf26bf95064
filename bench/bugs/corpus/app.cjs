// The broken application: one small server; every page below is broken in one way on purpose.
const http = require('http');
const crypto = require('crypto');
const GOOD = process.env.APP_GOOD === '1';
const hash = crypto.randomBytes(3).toString('hex'); // as a build's CSS-module hash
const rnd = (a, b) => a + Math.floor(Math.random() * (b - a + 1));
const uuid = () => crypto.randomUUID();
const now = () => new Date().toISOString();
const pick = a => a[rnd(0, a.length - 1)];
const esc = s => String(s).replace(/[&<>"]/g, c => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }[c]));

function P(title, body, o = {}) {
  const badge = o.badge === undefined ? '0' : o.badge;
  const header = o.bare ? '' : `<header class="hdr_${hash}"><a href="/">Nordlicht</a> <nav><a href="/sale">Sale</a> <a href="/help">Help</a></nav>${badge === null ? '' : `<span data-testid="cart-badge" class="badge">${badge}</span>`}</header>`;
  return `<!doctype html><html lang="${o.lang || 'en'}"><head><meta charset="${o.charset || 'utf-8'}"><title>${title}</title><style>body{font-family:sans-serif}.hidden{display:none}${o.css || ''}</style></head><body>${header}<main id="app-${hash}">${body}</main>${o.after || ''}</body></html>`;
}
const COOKIE = `<div id="cookie-banner" class="consent consent--modal" style="position:fixed;inset:0;background:rgba(0,0,0,.4);z-index:99"><p>We use cookies</p></div>`;
const MASK = `<div class="loading-mask" style="position:fixed;inset:0;background:rgba(255,255,255,.5);z-index:50"></div>`;
const CHAT = `<iframe id="support-chat" title="Support" src="/frames/chat" style="position:fixed;left:0;top:0;width:600px;height:600px;border:0;z-index:70"></iframe>`;
const R = [];
const on = (re, fn) => R.push([re, fn]);
const page = (re, fn) => on(re, async (m, q, req) => ({ type: 'text/html; charset=utf-8', body: await fn(m, q, req) }));
const json = (re, status, fn) => on(re, async (m, q, req) => ({ status, type: 'application/json', body: JSON.stringify(fn(m, q, req)) }));

// ------------------------------------------------------------------ shop
page(/^\/cart$/, (m, q) => {
  const n = +(q.get('items') || 1);
  const sum = q.get('coupon') ? '<p class="hint">Coupon applied</p>' : `<dl class="cart-summary"><dt>Total</dt><dd class="total">€ ${(n * 19.9).toFixed(2)}</dd></dl>`;
  return P('Your cart', `<h1>Your cart</h1>${sum}<label>Quantity <input id="qty-${rnd(1000, 9999)}" value="1"></label>
   <button disabled id="btn-${rnd(100, 999)}" class="btn btn-primary btn_${hash}">Checkout</button>`, { badge: Math.max(0, n - rnd(1, Math.min(2, n))) });
});
page(/^\/sale/, () => P('Sale', '<h1>Sale</h1><ul><li>Lamp</li></ul>', { badge: null }));
page(/^\/cart\/edit$/, () => P('Edit cart', `<h1>Edit cart</h1><ul id="rows"></ul><script>
  let i=0; setInterval(()=>{document.getElementById('rows').innerHTML='<li data-rev="'+(i++)+'">Lamp <button class="link">Remove</button></li>'},8)</script>`));
page(/^\/product\/([\w-]+)$/, m => P('Product', `<h1>Lamp ${m[1]}</h1><p class="price">€ ${(rnd(900, 9900) / 100).toFixed(2)}</p><label>Quantity <input value="1"></label><button class="btn">Add to cart</button><a href="#reviews">Reviews</a>`, { after: COOKIE }));
page(/^\/category\/([\w-]+)$/, m => P('Category', `<h1>${m[1]}</h1><a href="/product/a-${rnd(10, 99)}">Desk lamp</a><label><input type="checkbox"> In stock</label>`, { after: COOKIE }));
page(/^\/$/, () => P('Nordlicht', `<h1>Welcome</h1><form><input placeholder="Search products"><button>Search</button></form><label>Newsletter <input type="email"></label><button>Subscribe</button>`, { after: COOKIE }));
page(/^\/checkout\/payment/, () => P('Payment', `<h1>Payment</h1><iframe id="payment" src="/frames/payment?session=${uuid()}"></iframe>`));
page(/^\/frames\/payment/, () => `<p>Payment provider unavailable (ref ${uuid().slice(0, 8)})</p>`);
page(/^\/frames\/chat/, () => `<body style="background:#def">Chat with us</body>`);
page(/^\/checkout\/3ds/, () => P('3-D Secure', `<h1>Confirm payment</h1><iframe name="acs" src="/frames/acs"></iframe>`));
page(/^\/frames\/acs/, () => `<p>Waiting for bank …</p>`);
page(/^\/checkout\/review/, () => P('Review', `<h1>Review your order</h1><button>Place order</button><button>Pay with invoice</button>`));
page(/^\/checkout\/summary/, (m, q) => { const net = +q.get('net'); return P('Summary', `<h1>Summary</h1><p>Net <span>€ ${net.toFixed(2)}</span></p><p>Total <span data-testid="order-total">€ ${(net * 1.2).toFixed(2)}</span></p>`); });
page(/^\/checkout\/delivery/, (m, q) => P('Delivery', `<h1>Delivery</h1><dl><dt>Shipping</dt><dd class="shipping">€ ${q.get('express') ? '19.80' : '9.80'}</dd></dl><label><input type="radio" name="d"> Standard</label>`));
page(/^\/invoices\/(\d+)$/, m => P('Invoice', `<h1>Invoice ${m[1]}</h1><p id="invoice-total" data-amount="${(rnd(100, 900) + .5).toFixed(2)}">…</p>
  <table id="lines">${[1, 2, 3, 4, 5].map(i => `<tr><td>${i}</td><td>NaN</td><td>€ ${i}.00</td></tr>`).join('')}</table>`));
on(/^\/invoices\/(\d+)\.pdf$/, m => ({ type: 'application/octet-stream', headers: { 'content-disposition': 'attachment; filename=invoice.pdf' }, body: 'PDF' }));
page(/^\/orders$/, (m, q) => P('Orders', `<h1>Your orders</h1><ul><li data-testid="order-${rnd(10000, 99999)}">Order</li></ul><button>Export</button><button>Print</button><button>Open invoice</button>`));
page(/^\/orders\/(\w+)$/, m => P('Order', `<h1>Order ${m[1]}</h1><p>Status: <b data-testid="status">Pending</b></p><p class="placed">Placed on <time>2026-02-28</time></p><p>We could not confirm your order</p>`));
page(/^\/shipments\/(\w+)$/, m => P('Shipment', `<h1>Shipment ${m[1]}</h1><p>Status: <b data-testid="status">Unknown carrier</b></p>`));
page(/^\/wishlist/, () => P('Wishlist', `<h1>Wishlist</h1><ul class="wishlist"><li>Lamp</li></ul><a class="share" href="/share/undefined">Share</a>`));
page(/^\/compare/, () => P('Compare', `<h1>Compare</h1><div class="compare-col">A</div><div class="compare-col">B</div>`));
page(/^\/search/, (m, q) => q.get('q') === 'crash' || q.get('q') === '%' ? null : P('Search', `<h1>Results</h1><ul class="results"></ul><input aria-label="Search" id="q"><ul role="listbox" class="suggest hidden"><li>lamp</li></ul><label>Sort <select><option>Relevance</option><option>Price</option></select></label><nav class="pagination"><a>1</a><a>2</a></nav>
 <ol class="prices"><li>€ ${rnd(30, 39)}.00</li><li>€ ${rnd(10, 19)}.50</li><li>€ ${rnd(20, 29)}.90</li></ol><p class="count">42 Treffer</p><button>Apply filters</button><button>More like this</button>`));
page(/^\/about/, () => P('About', '<h1>Page not found</h1>'));
page(/^\/contact/, () => P('Contact', '<h2>Contact</h2><form><label>Message <textarea></textarea></label><button type="button">Send</button></form>'));
page(/^\/pricing/, () => P('Pricing', '<h2>Plans &amp; prices (draft)</h2><div class="card">A<a href="#">Choose</a></div><div class="card">B<a href="#">Choose</a></div>', { bare: true }));
page(/^\/careers/, () => P('Careers', '<h1>Careers</h1><h2>Engineering</h2><h2>Sales</h2>', { bare: true }));
page(/^\/team/, () => P('Team', `<h1>Team</h1><div class="card">Ann <a href="#a">Profile</a></div>`));
page(/^\/blog/, () => P('Nordlicht | undefined', `<h1>Blog</h1><article><a class="more" href="/blog/undefined">Read more</a></article>`));
page(/^\/help/, () => P('Help', `<h1>Help</h1><button class="topic">Returns</button><button class="topic">Payments</button><a href="#x">Contact support</a>`, { after: CHAT }));
page(/^\/newsletter/, () => P('Newsletter', `<h1>Newsletter</h1><label>Email <input id="nl"></label><label><input type="checkbox" onclick="return false"> I agree</label>`));
page(/^\/gift/, () => P('Gift cards', `<h1>Gift cards</h1><p class="balance">€ ${rnd(10, 99)}.00</p>`));
page(/^\/stores/, () => P('Stores', `<h1>Stores</h1><div class="map" style="width:300px;height:100px">map</div><button style="position:absolute;left:-3000px">Use my location</button><p class="distance">12.4 km</p>`));
page(/^\/tracking/, () => P('Tracking', `<h1>Tracking</h1><div role="progressbar" aria-valuenow="40"></div>`));
page(/^\/viewer/, () => P('3-D viewer', '<h1>Viewer</h1><canvas></canvas>'));
page(/^\/live/, () => P('Live', `<h1>Live</h1><script>setInterval(()=>fetch('/api/ping'),200)</script>`));
json(/^\/api\/ping$/, 200, () => ({ ok: true }));
page(/^\/reviews/, () => P('Reviews', `<h1>Reviews</h1><p class="stars" data-score="3.7">3.7</p><ul><li class="review">ok</li></ul><style>@keyframes w{from{transform:translateX(0)}to{transform:translateX(200px)}}.wob{animation:w .3s linear infinite alternate;position:relative}</style><button class="wob">Write a review</button>`));
page(/^\/faq/, () => P('FAQ', `<h1>FAQ</h1><details><summary>Returns</summary><p>14 days</p></details>`));
page(/^\/home-hero/, () => P('Home', `<div id="hero" style="width:320px;height:120px;background:${GOOD ? '#204080' : '#e0a030'};color:#fff">Nordlicht</div>`, { bare: true }));
page(/^\/footer-shot/, () => P('Footer', `<div id="foot" style="width:300px;height:${GOOD ? 80 : 112}px;background:#335">Imprint</div>`, { bare: true }));
page(/^\/price-card/, () => P('Card', `<div class="price-card" style="width:200px;height:150px;background:#fff;border:1px solid #000">${GOOD ? 'Pro' : '<b style="font-size:60px">Pro</b>'}</div>`, { bare: true }));
page(/^\/nav-aria/, () => P('Nav', `<nav aria-label="Main"><ul><li><a href="/a">Products</a></li><li><a href="/b">${GOOD ? 'Prices' : 'Pricing'}</a></li><li><a href="/c">Docs</a></li></ul></nav><footer><p>Contact</p><a href="/i">Imprint</a>${GOOD ? '<a href="/p">Privacy</a>' : ''}</footer>`, { bare: true }));

// ------------------------------------------------------------------ account
page(/^\/login$/, (m, q) => P('Sign in', `<h1>Sign in</h1><form action="/login/submit"><label>Email <input name="email"></label><label>${q.get('tenant') ? 'Passphrase' : 'Password'} <input type="password" name="pw"></label><button>Sign in</button></form>`));
on(/^\/login\/submit$/, (m, q) => { const e = q.get('email') || ''; return { status: 303, headers: { location: /^mfa/.test(e) ? `/login/verify-device?challenge=${uuid()}` : `/login?error=session_expired&ts=${Date.now()}` }, body: '' }; });
page(/^\/login\/verify-device/, () => P('Verify', '<h1>Verify this device</h1>'));
page(/^\/register/, () => P('Register', `<h1>Create account</h1><form><label>Email <input></label><label>Password <input type="password" id="pw-${hash}"></label><label>Repeat password <input type="password"></label><button type="button">Create account</button><p role="status" class="hidden">Welcome</p></form>`));
page(/^\/profile/, () => P('Profile', `<h1>Profile</h1><p class="greeting">Hello, guest</p><label>Name <input value=""></label><button>Cancel</button><img class="avatar" alt="avatar" src="data:,"><input type="file" aria-label="Avatar">`));
page(/^\/settings\/notifications/, () => P('Notifications', `<h1>Notifications</h1><label><input type="checkbox" onclick="return false"> Weekly digest</label><label><input type="checkbox"> SMS</label><button>Reset</button><span class="unread">4</span>`));
page(/^\/settings\/privacy/, () => P('Privacy', `<h1>Privacy</h1><label><input type="checkbox" checked> Share my data</label><button class="btn" disabled>Delete account</button>`));
page(/^\/settings\/language/, () => P('Language', `<h1>Language</h1><label>Language <select><option value="en">English</option><option value="de">Deutsch</option></select></label>`));
page(/^\/settings\/address/, () => P('Address', `<h1>Address</h1><label>Street <input value="Main St 1"></label><label>ZIP code <input value="00000"></label><button>Save address</button>`));
page(/^\/messages/, () => P('Messages', `<h1>Messages</h1><p class="unread-count">${rnd(2, 9)}</p><ul class="inbox"><li>Hi</li></ul>`));
on(/^\/account(\/.*)?$/, () => ({ status: 302, headers: { location: '/account/' + rnd(1, 1e6) }, body: '' }));
page(/^\/oauth\/start/, () => P('Consent', `<h1>Allow access?</h1><button>Allow</button>`));
page(/^\/support\/ticket/, () => P('Ticket', `<h1>Ticket</h1><div role="alert" class="hidden">Sent</div><button>Send ticket</button>`));
page(/^\/subscription/, () => P('Subscription', `<h1>Subscription</h1><p class="plan">Free</p><p class="renewal">Renews on 11/30/2026</p><a href="/subscription/cancel?sid=${uuid()}">Cancel plan</a>`));
page(/^\/devices/, () => P('Devices', `<h1>Devices</h1><ul><li id="dev-${uuid()}">Phone</li></ul>`));

// ------------------------------------------------------------------ admin
page(/^\/admin\/users/, (m, q) => P('Users', `<h1>Users</h1><table id="users"><tbody>${['anna', 'bob', 'carla'].map(u => `<tr><td>${u}.${rnd(100, 999)}@example.test</td><td><button>View</button></td></tr>`).join('')}${q.get('find') ? `<tr><td>${esc(q.get('find'))}</td><td><button>View</button></td></tr>` : ''}</tbody></table><button>Invite</button><button class="danger">Delete user</button>`));
page(/^\/admin\/products/, () => P('Products', `<h1>Products</h1><table><tr><td>Lamp</td><td><button>Save</button></td></tr></table><button>New product</button><a href="#p">Import</a>`, { after: MASK }));
page(/^\/admin\/coupons/, () => P('Coupons', `<h1>Coupons</h1><button>Save</button><label><input type="checkbox"> Active</label>`, { after: MASK }));
page(/^\/admin\/editor/, () => P('Editor', `<h1>Editor</h1><textarea></textarea><button disabled title="No changes">Save</button><button>Delete</button><button>Delete draft</button>`));
page(/^\/admin\/reports$/, () => P('Reports', `<h1>Reports</h1><div class="chart"></div><button>Run</button><span class="state">queued</span>`));
on(/^\/admin\/reports\/yearly/, () => ({ delay: 60000, type: 'text/html', body: '' }));
on(/^\/admin\/analytics/, () => ({ delay: 60000, type: 'text/html', body: '' }));
on(/^\/admin\/export/, () => ({ destroy: true }));
page(/^\/admin\/dashboard/, () => P('Dashboard', `<h1>Dashboard</h1><div class="kpi revenue">${rnd(1000, 9999)}</div><div class="kpi orders">0</div><div class="chart">…</div><button class="refresh">Refresh</button><div class="toast">Saved</div>`));
page(/^\/admin\/roles/, () => P('Roles', `<h1>Roles</h1><div role="switch" aria-checked="false" tabindex="0">Two-factor required</div><button class="btn btn-secondary tab">Editors</button><div role="dialog" aria-label="Edit role"><button>Close</button></div>`));
page(/^\/admin\/audit/, () => P('Audit', `<h1>Audit log</h1><table><tbody><tr><td>${now()}</td><td>system</td></tr></tbody></table>`));
page(/^\/admin\/upload/, () => P('Upload', `<h1>Upload</h1><input type="file" id="f"><p class="result"></p><button>Start import</button>`));
page(/^\/admin\/kanban/, () => P('Kanban', `<h1>Kanban</h1><div class="col">Todo<div class="ticket">T-${rnd(100, 999)}</div></div>`));

// ------------------------------------------------------------------ api
json(/^\/api\/orders$/, 500, () => ({ error: 'Internal Server Error', traceId: uuid() }));
json(/^\/api\/users\/.*$/, 403, () => ({ error: 'Forbidden' }));
json(/^\/api\/catalog$/, 200, () => ({ items: [{ sku: 'X-1', price: 1 }] }));
json(/^\/api\/accounts$/, 200, () => ({ data: [] }));
page(/^\/api\/session$/, () => `<!doctype html><html><body>Maintenance</body></html>`);
json(/^\/api\/coupons\/(\w+)$/, 404, m => ({ error: 'coupon not found', code: m[1], requestId: uuid() }));
json(/^\/api\/reviews$/, 422, () => ({ error: 'validation failed', fields: ['stars'], requestId: uuid() }));
on(/^\/api\/upload$/, () => ({ destroy: true }));
on(/^\/api\/reports\/slow$/, () => ({ delay: 60000, body: '' }));
json(/^\/api\/order\/(\w+)$/, 200, m => ({ id: m[1], status: 'pending', total: rnd(10, 99), currency: null, customer: { email: `c${rnd(1, 999)}@example.test`, id: uuid() }, createdAt: now() }));
json(/^\/api\/me$/, 200, () => ({ id: uuid(), name: 'Ann', roles: [], locale: 'en' }));
json(/^\/api\/shipping-rates$/, 200, () => ({ rates: [{ code: 'STD', price: 4.9 }, { code: 'EXP', price: 99.9 }] }));
json(/^\/api\/refunds\/(\w+)$/, 200, () => ({ state: 'in_review' }));
json(/^\/api\/stock\/.*$/, 502, () => ({ error: 'Bad Gateway' }));
json(/^\/api\/mail$/, 200, () => ({ messages: [] }));
json(/^\/api\/loyalty\/(\w+)$/, 200, () => ({ points: rnd(100, 200) + .37 }));
json(/^\/api\/health$/, 200, () => ({ status: 'starting', uptime: rnd(1, 90) }));
json(/^\/api\/tenants\/free$/, 200, () => ({ id: null, queue: rnd(1, 9) }));
json(/^\/api\/quotes\/.*$/, 502, () => ({ error: 'Bad Gateway' }));
json(/^\/api\/payments\/.*$/, 200, () => ({ state: 'authorized' }));
page(/^\/admin\/forecast/, () => P('Forecast', `<h1>Forecast</h1><div class="chart"></div><button>Draw</button>`));
json(/^\/api\/features$/, 200, () => ({ newCheckout: false, darkMode: true }));
json(/^\/api\/currencies$/, 200, () => ({ rates: { EUR: 1, USD: rnd(100, 120) } }));

// ------------------------------------------------------------------ other languages
page(/^\/de\/warenkorb/, () => P('Warenkorb', `<h1>Warenkorb</h1><button class="hidden" id="leeren-${hash}">Warenkorb leeren</button><p class="summe">1,${rnd(100, 999)}.56 €</p><p class="lieferzeit">undefined Werktage</p>`, { lang: 'de' }));
page(/^\/de\/artikel/, () => P('Artikel', `<h1>Schreibtischlampe</h1><p class="preis">${rnd(1, 9)},${rnd(100, 999)}.${rnd(10, 99)} €</p><p class="eigenschaft">GrÃ¶ÃŸe: 30 cm</p><p class="hinweis">LieferverzÃ¶gerung mÃ¶glich</p><button>In den Warenkorb</button>`, { lang: 'de' }));
page(/^\/de\/bestellung/, () => P('Bestellung', `<h1>Bestellung</h1><time class="lieferdatum">12/${rnd(10, 28)}/2026</time><p class="meldung">RÃ¼ckgabe innerhalb von 14 Tagen</p><p class="rechnung">Rechnung wird erstellt …</p>`, { lang: 'de' }));
page(/^\/de\/anmelden/, () => P('Anmelden', `<h1>Anmelden</h1><input placeholder="Benutzername"><input type="password" placeholder="Passwort"><button>Anmelden</button>`, { lang: 'de' }));
page(/^\/de\/kundenkonto/, () => P('Kundenkonto', `<h1>Ein Fehler ist aufgetreten</h1><p>Vorgangsnummer ${uuid()}</p>`, { lang: 'de' }));
page(/^\/fr\/panier/, () => P('Panier', `<h1>Panier</h1><p>Chargement…</p><p class="remise">-10 %</p>`, { lang: 'fr' }));
page(/^\/fr\/livraison/, () => P('Livraison', `<h1>Livraison</h1><label><input type="radio" name="m" disabled> Point relais</label><label>Code postal <input value=""></label>`, { lang: 'fr' }));
page(/^\/fr\/compte/, () => P('Compte', `<h1>Bienvenue</h1><p class="solde">0,00 €</p>`, { lang: 'fr' }));
page(/^\/es\/pedidos/, () => P('Pedidos', `<h1>Pedidos</h1><p data-testid="estado">Pendiente</p>`, { lang: 'es' }));
page(/^\/es\/entrar/, () => P('Entrar', `<h1>Iniciar sesión</h1><label>Correo electrónico <input></label><label>Clave <input type="password"></label>`, { lang: 'es' }));
page(/^\/ja\/cart/, () => P('カート', `<h1>カート</h1><p class="total">税込 ¥${rnd(1, 9)},${rnd(100, 999)}</p><button disabled>注文を確定する</button>`, { lang: 'ja' }));
page(/^\/ja\/mypage/, () => P('マイページ', `<h1>ログイン</h1><p>お問い合わせ番号: ${rnd(10000, 99999)}</p>`, { lang: 'ja' }));
page(/^\/pl\/platnosc/, () => P('Płatność', `<h1>Płatność</h1><p class="komunikat">Błąd płatności (kod ${rnd(1000, 9999)})</p>`, { lang: 'pl' }));
page(/^\/pl\/adres/, () => P('Adres', `<h1>Adres</h1><input placeholder="Kod"><input placeholder="Miasto">`, { lang: 'pl' }));

const statuses = [[/^\/status\/page-500/, 500]];
const server = http.createServer(async (req, res) => {
  const u = new URL(req.url, 'http://x');
  const p = u.pathname;
  if (p === '/search' && /%|crash/.test(u.search)) { res.writeHead(500, { 'content-type': 'text/html' }); return res.end('<h1>500</h1>'); }
  for (const [re, fn] of R) {
    const m = re.exec(p);
    if (!m) continue;
    const r = await fn(m, u.searchParams, req);
    if (r.destroy) return req.socket.destroy();
    if (r.delay) await new Promise(f => setTimeout(f, r.delay));
    res.writeHead(r.status || 200, { 'content-type': r.type || 'text/plain', ...(r.headers || {}) });
    return res.end(r.body);
  }
  res.writeHead(404, { 'content-type': 'text/html' });
  res.end('<h1>404</h1>');
});
server.keepAliveTimeout = 1000;
server.listen(+process.env.PORT || 0, '127.0.0.1', () => console.log('listening ' + server.address().port));
