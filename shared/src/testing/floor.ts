/** What the oldest supported browsers (Chrome 103, Safari 16.4, Firefox 115) lack, by where newer ones have it. */
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

/** Removes from a test's page what not every supported browser has, so that its use fails here first. */
export function lowerToFloor() {
  // the test environment's classes inherit from Node's
  for (const [holder, names] of beyondFloor)
    for (let owner: object | null = holder; owner; owner = Reflect.getPrototypeOf(owner))
      for (const name of names) Reflect.deleteProperty(owner, name);
}
