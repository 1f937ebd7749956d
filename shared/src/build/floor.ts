/**
 * The oldest supported browsers, defined only here. All bundles are compiled for them, `pnpm check` verifies the output, and `pnpm
 * test:floor` runs the main journey in a Chromium of that version. Names follow MDN's browser-compatibility data.
 */
export const floor = { chrome: '103', safari: '16.4', firefox: '115' } as const;

/** The floor as a Browserslist query, which has a separate name for Safari on iOS. */
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

/** The floor as targets of Lightning CSS. */
export const cssTargets = {
  ...Object.fromEntries(Object.entries(floor).map(([browser, version]) => [browser, lightningVersion(version)])),
  ios_saf: lightningVersion(floor.safari),
};
