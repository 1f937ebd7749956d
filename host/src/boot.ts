import './notice.css';

const nextTask = () => new Promise<void>((resolve) => setTimeout(resolve));

/** Runs the parts of the host's single file in separate tasks, so that a slow phone can handle taps in between. */
async function boot() {
  await nextTask();
  // half of the runtime's start-up; importing no names keeps unused exports out of the file
  await import(/* webpackMode: "eager", webpackExports: [] */ '@liaozhai/shared/runtime/store');
  await nextTask();
  const { openPage, startFirstScreen } = await import(/* webpackMode: "eager" */ './openPage');
  await nextTask();
  const page = await openPage();
  const firstScreen = startFirstScreen(page);
  await nextTask();
  const { renderApp } = await import(/* webpackMode: "eager" */ './App');
  await firstScreen;
  await page.prerendered.waitForScrollEnd();
  renderApp(page);
}

const { __liaozhai: loader } = globalThis;
// shows `loader.ts` that the script was parsed; one that cannot be parsed never gets here
if (loader) loader.started = true;

boot().catch((cause) => {
  loader?.failed();
  throw cause;
});
