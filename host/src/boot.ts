import './notice.css';

const nextTask = () => new Promise<void>((resolve) => setTimeout(resolve));

/** One file, but its parts run in tasks of their own: none keeps a slow phone from answering a tap for long. */
async function boot() {
  await nextTask();
  const { startFirstScreen } = await import(/* webpackMode: "eager" */ './startFirstScreen');
  await nextTask();
  const started = startFirstScreen();
  await nextTask();
  const { renderApp } = await import(/* webpackMode: "eager" */ './renderApp');
  await started;
  renderApp();
}

const { __liaozhai: loader } = globalThis;
// a script that cannot be parsed does not come to this line, by which the page's loader knows
if (loader) loader.started = true;

boot().catch((cause) => {
  loader?.failed();
  throw cause;
});
