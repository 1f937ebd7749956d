/** An exception to the floor, with the reason why nothing breaks where it is missing. */
export interface Allowed {
  features: readonly string[];
  /** files it holds for; default: all */
  where?: RegExp;
  /** stands within 60 characters on either side, for what others may use in earnest */
  near?: RegExp;
  why: string;
}

/** Where React DOM is: the host's entry and the console's. */
const host = /^static\/js\/(host|index)\./;

/** What the kit, React and the other libraries bring along. */
export const allowed: readonly Allowed[] = [
  {
    features: ['text-wrap', 'text-spacing-trim', 'text-autospace', 'hanging-punctuation'],
    why: 'finer typography: without it lines break and stand as in any browser of that age',
  },
  {
    features: ['@starting-style'],
    why: 'where an entrance begins: without it the thing is there at once',
  },
  {
    features: ['content-visibility', 'contain-intrinsic-height'],
    why: 'leaves out what is off-screen: without it the same is drawn, with more work',
  },
  {
    features: ['<img fetchpriority>', '<link fetchpriority>'],
    why: 'a hint to the network: without it the browser chooses the order itself',
  },
  {
    features: ['overflow-anchor'],
    why: 'switches scroll anchoring off: browsers without the property have none',
  },
  {
    features: ['field-sizing'],
    why: 'TextArea and Composer ask CSS.supports for it and find the height another way where it is missing',
  },
  {
    features: ['::highlight', 'Highlight'],
    where: /story\.chat\.search\./,
    why: '查找 asks for CSS.highlights first: without it the message is marked, and the words in it are not',
  },
  {
    features: ['.addRoutes()'],
    near: /\.addRoutes\?\./,
    why: 'the service worker asks for it first: without it what is posted passes the worker, as it always did',
  },
  {
    features: ['scrollbar-width'],
    why: 'hides a scrollbar that phones do not show anyway',
  },
  {
    features: ['event scrollend'],
    near: /"scroll",/,
    why: 'the virtual list also takes 150 ms without a scroll for its end',
  },
  {
    features: ['trustedTypes', '.createPolicy()'],
    near: /\?\.createPolicy\(|trustedTypes\)\?|=(\w)\?\1\.createPolicy\(/,
    why: 'asked for first; where there are no Trusted Types the policy that demands them is ignored as well',
  },
  {
    features: ['requestIdleCallback', 'cancelIdleCallback'],
    where: host,
    why: 'useIdle asks for it and takes a timer where it is missing, as in every Safari',
  },
  {
    features: ['ClipboardItem'],
    near: /try\{return await navigator\.clipboard\.write/,
    why: 'tried and caught: where it is missing the text is copied the older ways',
  },
  {
    features: ['navigation', 'event navigate', 'event navigatesuccess', 'event navigateerror'],
    where: host,
    why: "React's default indicator of transitions, behind typeof",
  },
  {
    features: ['.startViewTransition()', '.skipTransition()', 'style.viewTransitionName', 'style.viewTransitionClass'],
    where: host,
    why: "React's view transitions: tried and caught, and we use none",
  },
  {
    features: ['PerformanceEventTiming', 'PerformanceSoftNavigation', '.getLargestInteractionContentfulPaint()'],
    where: /^static\/js\/vitals\./,
    why: 'web-vitals asks for each first: where one is missing its figure is not measured',
  },
  {
    features: ['navigator.connection'],
    near: /navigator\.connection&&/,
    why: 'React asks for it first',
  },
  {
    features: ['<select is>'],
    near: /createElement\("select"/,
    why: "React's way to make customised elements, of which we have none",
  },
  {
    features: ['Error.captureStackTrace()'],
    near: /Error\.captureStackTrace\?/,
    why: 'axios asks for it first',
  },
  {
    features: ['.toArray()'],
    near: /endsWith\(.{0,40}toArray/,
    why: "axios' own function",
  },
  {
    features: ['.requestPointerLock()', 'document.exitPointerLock()'],
    near: /pointerLock/i,
    why: '@use-gesture calls it for its option pointerLock, which nothing sets',
  },
];
