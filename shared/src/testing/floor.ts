/** Features that the oldest supported browsers lack (Chrome 103, Safari 16.4, Firefox 115), by object. */
const beyondFloor: [holder: object, names: string[]][] = [
  [Array, ['fromAsync']],
  [Array.prototype, ['toReversed', 'toSorted', 'toSpliced', 'with']],
  [Object.getPrototypeOf(Uint8Array.prototype), ['toReversed', 'toSorted', 'with']],
  [Object, ['groupBy']],
  [Map, ['groupBy']],
  [Promise, ['try', 'withResolvers']],
  [String.prototype, ['isWellFormed', 'toWellFormed']],
  [
    Set.prototype,
    ['difference', 'intersection', 'isDisjointFrom', 'isSubsetOf', 'isSupersetOf', 'symmetricDifference', 'union'],
  ],
  [
    Object.getPrototypeOf(Object.getPrototypeOf([].values())),
    ['drop', 'every', 'filter', 'find', 'flatMap', 'forEach', 'map', 'reduce', 'some', 'take', 'toArray'],
  ],
  [Intl, ['Segmenter']],
  [URL, ['canParse', 'parse']],
  [AbortSignal, ['any']],
];

/** Removes these features from the test's page, so that their use fails. */
export function lowerToFloor() {
  // the test environment's classes inherit from Node's
  for (const [holder, names] of beyondFloor)
    for (let owner: object | null = holder; owner; owner = Reflect.getPrototypeOf(owner))
      for (const name of names) Reflect.deleteProperty(owner, name);
}
