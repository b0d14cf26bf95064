import { randomInt, randomUUID } from 'node:crypto';

export const orderNo = () => String(randomInt(10000, 99999));
export const email = (name = 'kunde') => `${name}+${randomInt(1000, 999999)}@example.test`;
export const uuid = () => randomUUID();
export const sku = () => `NL-${randomInt(100, 999)}-${'ABCDEF'[randomInt(0, 6)]}`;
export const amount = () => randomInt(1000, 99999) / 100;
export const oneOf = <T>(...xs: T[]) => xs[randomInt(0, xs.length)];
export const sleep = (ms: number) => new Promise(f => setTimeout(f, ms));
