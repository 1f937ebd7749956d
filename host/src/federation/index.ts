export { door } from './door';
export { pageSet } from './page';
export type { PageBuild, PageRoute, PageSet } from './pageSet';
export { RemoteError } from './remoteError';
export { activeBuild, fallBack, loadRemote, reportFailure, runningBuilds, startAnew } from './remotes';
export { warm } from './warm';
