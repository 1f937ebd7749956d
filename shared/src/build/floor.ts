/**
 * The oldest browsers that the product works in: the one place that says so. Every bundle is compiled to it,
 * `pnpm check` holds what was built against it, and `pnpm test:floor` runs the main journey in a Chromium of that age.
 * Names are those of MDN's browser-compatibility data.
 */
export const floor = { chrome: '103', safari: '16.4', firefox: '115' } as const;

/** The floor as the compilers of scripts and styles read it; both know Safari on phones by a name of its own. */
export const browserslist = [
  `chrome >= ${floor.chrome}`,
  `edge >= ${floor.chrome}`,
  `safari >= ${floor.safari}`,
  `ios_saf >= ${floor.safari}`,
  `firefox >= ${floor.firefox}`,
];

const lightningVersion = (version: string) => {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return (major << 16) | (minor << 8);
};

/** The floor as Lightning CSS reads it. */
export const cssTargets = {
  ...Object.fromEntries(Object.entries(floor).map(([browser, version]) => [browser, lightningVersion(version)])),
  ios_saf: lightningVersion(floor.safari),
};
