export function pruefeMehrwertsteuer(bestellung: string, satz: number, erwartet = 19) {
  if (satz !== erwartet)
    throw new Error(`Mehrwertsteuer falsch: erwartet ${erwartet} %, erhalten ${satz} % (Bestellung ${bestellung})`);
}

export function pruefeVersand(bestellung: string, kosten: string, erwartet = '4,90 €') {
  if (kosten !== erwartet)
    throw new Error(`Versandkosten falsch: erwartet ${erwartet}, erhalten ${kosten} (Bestellung ${bestellung})`);
}
