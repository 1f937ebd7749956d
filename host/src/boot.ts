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

void boot();
