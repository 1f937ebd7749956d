export { ReleaseError } from './errors.ts';
export { type ChannelDocument, candidatesOf } from './model/channel.ts';
export { canonicalJson } from './model/signing.ts';
export {
  isLoopback,
  type LocalRemote,
  localRemoteWord,
  parseLocalRemotes,
  type SiteOf,
  sitesFrom,
} from './operations/override.ts';
export { type PublishedLocal, type PublishLocalOptions, publishLocal } from './operations/publishLocal.ts';
export type { ServedFile } from './serve/buildFiles.ts';
export {
  openReleases,
  type Releases,
  type ReleasesOptions,
  tellProblem,
  type Visitor,
  type VisitorPage,
} from './serve/openReleases.ts';
export {
  bucket,
  escapeHtml,
  isInCandidate,
  jsonForHtml,
  type PageInput,
  type RenderedPage,
  renderPage,
  routeAt,
} from './serve/renderPage.ts';
