// The shop's made-up people. Real secrets never stand in a repository: these three are part of the demo.
export const customer = {
  name: 'Ada Moreno',
  email: process.env.SHOP_CUSTOMER ?? 'ada@example.com',
  password: process.env.SHOP_CUSTOMER_PASSWORD ?? 'morning-tea',
  state: '.auth/customer.json',
};

export const administrator = {
  name: 'Iris Lund',
  email: process.env.SHOP_ADMIN ?? 'iris@example.com',
  password: process.env.SHOP_ADMIN_PASSWORD ?? 'keep-it-brewing',
  state: '.auth/administrator.json',
};

export const nobody = { cookies: [], origins: [] };

export const goodCard = { number: '4242 4242 4242 4242', expiry: '12/34', code: '123' };
export const declinedCard = { number: '4000 0000 0000 0002', expiry: '12/34', code: '123' };
export const home = { name: 'Ada Moreno', street: 'Lindenweg 12', postcode: '10115', city: 'Berlin', country: 'Germany' };
