/** Invented merchants, employers and billers of an ordinary town. */
export interface Merchant {
  readonly name: string;
  readonly category: string;
  /** Dollars of a usual purchase. */
  readonly usual: readonly [least: number, most: number];
  /** The share of days with a purchase here, in relation to the others. */
  readonly weight: number;
  /** The final amount is known later: fuel, restaurants, hotels. */
  readonly isOpenEnded?: true;
}

export const merchants: readonly [Merchant, ...Merchant[]] = [
  { name: 'Juniper Street Market', category: 'GROCERIES', usual: [12, 96], weight: 9 },
  { name: 'Fieldstone Grocers', category: 'GROCERIES', usual: [18, 142], weight: 6 },
  { name: 'Brightwater Bakery', category: 'RESTAURANTS', usual: [4, 18], weight: 7 },
  { name: 'The Copper Kettle', category: 'RESTAURANTS', usual: [14, 68], weight: 5, isOpenEnded: true },
  { name: 'Noodle & Sage', category: 'RESTAURANTS', usual: [11, 44], weight: 4, isOpenEnded: true },
  { name: 'Two Finches Coffee', category: 'RESTAURANTS', usual: [3, 12], weight: 9 },
  { name: 'Ridgeline Fuel', category: 'FUEL', usual: [28, 61], weight: 5, isOpenEnded: true },
  { name: 'Meadowlark Pharmacy', category: 'HEALTH', usual: [6, 54], weight: 2 },
  { name: 'Pine & Nail Hardware', category: 'HOME', usual: [7, 118], weight: 2 },
  { name: 'Lantern Books', category: 'SHOPPING', usual: [9, 47], weight: 1 },
  { name: 'Thistledown Outfitters', category: 'SHOPPING', usual: [22, 160], weight: 2 },
  { name: 'Granary Cinema', category: 'ENTERTAINMENT', usual: [12, 38], weight: 1 },
  { name: 'Alder Valley Transit', category: 'TRAVEL', usual: [2, 9], weight: 4 },
  { name: 'Bluebell Pet Supply', category: 'HOME', usual: [14, 63], weight: 1 },
  { name: 'Orchard Lane Online', category: 'SHOPPING', usual: [8, 134], weight: 4 },
];

export const employers: readonly [string, ...string[]] = [
  'Alder Valley Schools',
  'Brindle & Moss Cabinets',
  'Harrow Creek Clinic',
  'Silverbrook Instruments',
  'Town of Meadow',
  'Quillwork Printing',
];

export const landlords: readonly [string, ...string[]] = ['Cobblestone Homes', 'Maple Row Apartments'];

/** Paid from checking on a day of the month. */
export const billers: readonly { readonly name: string; readonly usual: readonly [number, number] }[] = [
  { name: 'Alder Valley Power', usual: [58, 141] },
  { name: 'Clearspring Water', usual: [24, 52] },
  { name: 'Foxglove Telecom', usual: [45, 89] },
  { name: 'Sparrow Streaming', usual: [11, 17] },
  { name: 'Hearth & Field Insurance', usual: [84, 132] },
];

export const payees: readonly [string, ...string[]] = [
  'Wendell Plumbing',
  'Little Acorns Daycare',
  'St. Brigid Bell Fund',
];
