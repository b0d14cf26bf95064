const { test, expect } = require('@playwright/test');
const http = require('http');
test('the cart', async ({ page, request }) => {
  const server = http.createServer((q, r) => {
    if (q.url === '/') { r.setHeader('content-type', 'text/html'); r.end('<title>Shop</title><h1>Cart</h1><script src="/shop.js"></script>'); }
    else if (q.url === '/shop.js') { r.setHeader('content-type', 'text/javascript'); r.end(`
console.log('all is well');
console.warn('the price is old', { tea: 4.5 });
console.error('no stock of \u001b[31mtea\u001b[0m');
fetch('/api/stock?tea=1').catch(() => {});
fetch('/api/cart', { method: 'POST', body: '{}' }).catch(() => {});
fetch('http://127.0.0.1:9/api/prices').catch(() => {});
setTimeout(() => { cart.add('<tea>'); }, 50);
Promise.reject(new Error('the cart is closed'));
`); }
    else if (q.url === '/api/cart') { r.statusCode = 503; r.end('busy'); }
    else if (q.url === '/slow') { }
    else { r.statusCode = 404; r.end('nothing'); }
  });
  await new Promise(done => server.listen(0, '127.0.0.1', done));
  const at = `http://127.0.0.1:${server.address().port}`;
  await page.goto(at + '/');
  await page.waitForTimeout(400);
  await page.evaluate(() => { const c = new AbortController(); fetch('/slow', { signal: c.signal }).catch(() => {}); setTimeout(() => c.abort(), 100); });
  await page.waitForTimeout(300);
  await request.get(at + '/api/orders');
  server.closeAllConnections(); server.close();
});
