import { test, expect } from '@playwright/test';
import { zaikoKakunin } from '../../helpers/intl';
import { sku } from '../../helpers/data';

//#bug ja-chumon-disabled 4
test('注文を確定できる', async ({ page }) => {
  await page.goto('/ja/cart');
  await page.getByRole('button', { name: '注文を確定する' }).click();
});

//#bug ja-chumon-disabled
test('ギフト注文を確定できる', async ({ page }) => {
  await page.goto('/ja/cart?gift=1');
  await page.getByRole('button', { name: '注文を確定する' }).click();
});

//#bug ja-zeikomi-kakaku 4 56
test('税込価格が表示される', async ({ page }) => {
  await page.goto('/ja/cart');
  await expect(page.locator('.total')).toHaveText('税込 ¥1,100');
});

//#bug ja-zeikomi-kakaku
test('三点の税込価格が表示される', async ({ page }) => {
  await page.goto('/ja/cart?items=3');
  await expect(page.locator('.total')).toHaveText('税込 ¥3,300');
});

//#bug ja-zaiko-nashi 3
test('在庫を確認する', async () => {
  zaikoKakunin(sku(), new Map());
});

//#bug ja-mypage-login 1
test('マイページが開く', async ({ page }) => {
  await page.goto('/ja/mypage');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('マイページ');
});
