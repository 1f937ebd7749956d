/** First segments of the paths that the product's server or a copied site answers itself: no remote's page can lie there. */
export const RESERVED_SEGMENTS: readonly string[] = [
  'api',
  'app',
  'beacon',
  'broadcasting',
  'builds',
  'channels',
  'sanctum',
  'static',
];
