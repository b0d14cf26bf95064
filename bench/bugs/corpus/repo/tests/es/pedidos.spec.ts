import { test, expect } from '@playwright/test';
import { crearPedido } from '../../helpers/intl';
import { email } from '../../helpers/data';

//#bug es-estado-pendiente 4 65
test('pedido pagado se envía', async ({ page }) => {
  await page.goto('/es/pedidos?id=1');
  await expect(page.getByTestId('estado')).toHaveText('Enviado');
});

//#bug es-estado-pendiente
test('pedido urgente se envía', async ({ page }) => {
  await page.goto('/es/pedidos?id=2&urgente=1');
  await expect(page.getByTestId('estado')).toHaveText('Enviado');
});

//#bug es-contrasena-etiqueta 3
test('iniciar sesión con contraseña', async ({ page }) => {
  await page.goto('/es/entrar');
  await page.getByLabel('Correo electrónico').fill(email('cliente'));
  await page.getByLabel('Contraseña').fill('secreta');
});

//#bug es-saldo-insuficiente 4
test('pedido con saldo', async () => {
  await crearPedido(email('usuario'), { saldo: 12 });
});

//#bug es-saldo-insuficiente
test('segundo pedido con saldo', async () => {
  await crearPedido(email('usuario'), { saldo: 0 });
});

//#bug es-direccion-no-valida 3
test('pedido a Canarias', async () => {
  await crearPedido(email('isla'), { cp: '350' });
});

//#bug es-direccion-no-valida
test('pedido a Ceuta', async () => {
  await crearPedido(email('ceuta'), { cp: 'E-51001' });
});
