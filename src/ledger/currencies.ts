/**
 * The active currencies of ISO 4217 by their number of decimals, as of amendment 180: BGN went with 2025.
 * Fund codes that accounts are kept in (CLF, COU, UYW, …) are here; metals, XDR and the test codes are not, since
 * the standard gives them no minor unit to count. Not from `Intl`, whose decimals are those of daily use and not
 * the standard's (HUF and IQD have none there).
 *
 * Source: ISO 4217 list one, kept by SIX, https://www.six-group.com/en/products-services/financial-information/data-standards.html
 */
const codesByDecimals: readonly (readonly [decimals: number, codes: string])[] = [
  [0, 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'],
  [
    2,
    `AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW
     CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF
     IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK
     MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP
     SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XAD XCD XCG
     YER ZAR ZMW ZWG`,
  ],
  [3, 'BHD IQD JOD KWD LYD OMR TND'],
  [4, 'CLF UYW'],
];

/** ISO 4217 code → number of decimals. */
export const currencies: ReadonlyMap<string, number> = new Map(
  codesByDecimals.flatMap(([decimals, codes]) => codes.split(/\s+/).map((code) => [code, decimals] as const)),
);

/** Undefined unless the code is that of an active currency, in capitals. */
export function currencyDecimals(code: string): number | undefined {
  return currencies.get(code);
}
