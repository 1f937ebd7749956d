export type { Place } from './builds/sourceMaps.ts';
export { lineOf, ReleaseError } from './errors.ts';
export { type ChannelDocument, candidatesOf } from './model/channel.ts';
export {
  isLoopback,
  type LocalRemote,
  localRemoteWord,
  parseLocalRemotes,
  type SiteOf,
  sitesFrom,
} from './operations/override.ts';
export { publishLocal } from './operations/publishLocal.ts';
export type { ServedFile } from './serve/buildFiles.ts';
export { openReleases, type Releases, tellProblem, type VisitorPage } from './serve/openReleases.ts';
export { isInCandidate, renderPage, routeAt } from './serve/renderPage.ts';
export {
  brandedManifest,
  brandIcon,
  escapeHtml,
  hasOwnSeal,
  isShipped,
  readSiteConfig,
  type SiteBrand,
  type SiteConfig,
  siteBrand,
} from './serve/siteConfig.ts';
export { storeFrom } from './store/store.ts';
