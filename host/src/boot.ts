import './notice.css';

const nextTask = () => new Promise<void>((resolve) => setTimeout(resolve));

/** One file, but its parts run in tasks of their own: none keeps a slow phone from answering a tap for long. */
async function boot() {
  await nextTask();
  // half of the runtime's start; it names no export, since what nobody uses is to stay out of the file
  await import(/* webpackMode: "eager", webpackExports: [] */ '@liaozhai/shared/runtime/store');
  await nextTask();
  const { openPage, startFirstScreen } = await import(/* webpackMode: "eager" */ './openPage');
  await nextTask();
  const page = await openPage();
  const started = startFirstScreen(page);
  await nextTask();
  const { renderApp } = await import(/* webpackMode: "eager" */ './App');
  await started;
  await page.prerendered.rests();
  renderApp(page);
}

const { __liaozhai: loader } = globalThis;
// a script that cannot be parsed does not come to this line, by which the page's loader knows
if (loader) loader.started = true;

boot().catch((cause) => {
  loader?.failed();
  throw cause;
});
