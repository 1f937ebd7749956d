import screenStyles from './screens/ScreenStack.module.css';
import shellStyles from './shell/Shell.module.css';
import { TabBar, tabs } from './shell/TabBar';

const nothing = () => undefined;

/** The shell around a screen before any script runs; the screen's prerendered content replaces the token. */
const frame = (path: string, label?: string) => (
  <div className={shellStyles.frame} data-first={path}>
    <TabBar pathname={label ? path : ''} hidden={!label} onApproach={nothing} onReselect={nothing} />
    <main className={screenStyles.screen} aria-label={label}>
      lz-screen-lz
    </main>
  </div>
);

export const contents = [
  ...tabs.map(({ path, label }) => ({ route: path, element: frame(path, label) })),
  // a screen outside the tabs, for any path
  { route: 'bare', element: frame('lz-path-lz') },
];
