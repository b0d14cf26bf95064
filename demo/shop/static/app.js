// What the shop does better with JavaScript. Every form below also works without it.
'use strict';

const toasts = document.querySelector('.toasts');

const stays = 8000; // long enough to read, and to be still there when a test gives up

// toast says something for a while; screen readers get it too.
function toast(text) {
  const p = document.createElement('p');
  p.className = 'toast';
  p.textContent = text;
  toasts.append(p);
  setTimeout(() => p.remove(), stays);
}
for (const p of toasts.children) setTimeout(() => p.remove(), stays);

// ask talks to the API and gives back its JSON; what the API refuses is said as a toast.
async function ask(method, path, body) {
  try {
    const answer = await fetch(path, {
      method,
      headers: { 'Content-Type': 'application/json' },
      body: body && JSON.stringify(body),
    });
    const data = await answer.json();
    if (!answer.ok) throw new Error(data.error);
    return data;
  } catch (e) {
    toast(e.message || 'Something broke on our side');
    return null;
  }
}

function showCart(cart) {
  const link = document.querySelector('[data-cart-link]');
  link.setAttribute('aria-label', `Cart, ${cart.count} item${cart.count === 1 ? '' : 's'}`);
  link.querySelector('span').textContent = cart.count;
  if (cart.message) toast(cart.message);

  const lines = document.querySelectorAll('[data-line]');
  if (!lines.length) return;
  if (!cart.count) return location.reload();
  for (const line of lines) {
    const item = cart.items.find((i) => i.slug === line.dataset.line);
    if (!item) { line.remove(); continue; }
    line.querySelector('output').textContent = item.quantity;
    line.querySelector('.amount').textContent = item.total;
    const [less, more] = line.querySelectorAll('.stepper button');
    less.value = item.quantity - 1;
    less.disabled = item.quantity === 1;
    more.value = item.quantity + 1;
  }
  for (const key of ['subtotal', 'discount', 'shipping', 'total']) {
    document.querySelector(`.summary [data-testid=${key}]`).textContent = cart[key];
  }
  const nudge = document.querySelector('.nudge');
  nudge.hidden = !cart.toFreeShipping;
  nudge.querySelector('[data-missing]').textContent = cart.toFreeShipping || '';
}

document.addEventListener('submit', async (event) => {
  const form = event.target;
  let act;
  if ('add' in form.dataset) {
    const data = new FormData(form);
    act = () => ask('POST', '/api/cart/items', { product: data.get('product'), quantity: Number(data.get('quantity')) });
  } else if ('step' in form.dataset) {
    act = () => ask('PATCH', `/api${form.getAttribute('action')}`, { quantity: Number(event.submitter.value) });
  } else if ('remove' in form.dataset) {
    act = () => ask('DELETE', `/api${form.getAttribute('action')}`);
  } else {
    return;
  }
  event.preventDefault();
  const cart = await act();
  if (cart) showCart(cart);
});

document.addEventListener('click', (event) => {
  const opener = event.target.closest('[data-opens]');
  if (opener) document.getElementById(opener.dataset.opens).showModal();
  const closer = event.target.closest('[data-closes]');
  if (closer) closer.closest('dialog').close();
  if (event.target.matches('dialog')) event.target.close(); // its backdrop
});

// Live search: the results follow the form, and so does the address. An older answer never replaces a newer one.
const filters = document.querySelector('[data-filters]');
if (filters) {
  const results = document.getElementById('results');
  let timer, running;
  const refresh = async () => {
    running?.abort();
    running = new AbortController();
    const query = new URLSearchParams([...new FormData(filters)].filter(([, value]) => value));
    history.replaceState(null, '', query.size ? `/?${query}` : '/');
    results.setAttribute('aria-busy', 'true');
    try {
      const answer = await fetch(`/results?${query}`, { signal: running.signal });
      results.innerHTML = await answer.text();
    } catch (e) {
      if (e.name === 'AbortError') return;
      toast('The search did not answer');
    }
    results.removeAttribute('aria-busy');
  };
  filters.addEventListener('input', (event) => {
    clearTimeout(timer);
    timer = setTimeout(refresh, event.target.type === 'search' ? 200 : 0);
  });
  filters.addEventListener('submit', (event) => {
    event.preventDefault();
    refresh();
  });
}
