import screenStyles from './screens/ScreenStack.module.css';
import shellStyles from './shell/Shell.module.css';
import { TabBar, tabs } from './shell/TabBar';

const nothing = () => undefined;

/** The shell around each tab before any script runs; the screen's prerendered content replaces the token. */
const tabFrames = tabs.map(({ path, label }) => ({
  route: path,
  element: (
    <div className={shellStyles.frame} data-first={path}>
      <TabBar pathname={path} hidden={false} onApproach={nothing} onReselect={nothing} />
      <main className={screenStyles.screen} aria-label={label}>
        lz-screen-lz
      </main>
    </div>
  ),
}));

/** The shell around a screen outside the tabs, for any path. */
const bareFrame = {
  route: 'bare',
  element: (
    <div className={shellStyles.frame} data-first="lz-path-lz">
      <TabBar pathname="" hidden onApproach={nothing} onReselect={nothing} />
      <main className={screenStyles.screen}>lz-screen-lz</main>
    </div>
  ),
};

export const contents = [...tabFrames, bareFrame];
