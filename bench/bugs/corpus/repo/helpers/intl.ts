export function trouverCommande(commandes: string[], numero: string, client: string) {
  if (!commandes.includes(numero))
    throw new Error(`Commande n° ${numero} introuvable pour ${client}`);
}

export async function crearPedido(usuario: string, { saldo = 100, cp = '28001' } = {}) {
  if (!/^\d{5}$/.test(cp))
    throw new Error(`No se pudo crear el pedido: dirección no válida (usuario ${usuario})`);
  if (saldo < 50)
    throw new Error(`No se pudo crear el pedido: saldo insuficiente (usuario ${usuario})`);
}

export function zaikoKakunin(code: string, zaiko: Map<string, number>) {
  if (!zaiko.has(code))
    throw new Error(`在庫が見つかりません: 商品コード ${code}`);
}

export function sprawdzRabat(kod: string, klient: string) {
  throw new Error(`Nie znaleziono rabatu „${kod}” dla klienta ${klient}`);
}
