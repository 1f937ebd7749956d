export { ReleaseError } from './errors.ts';
export { type Beacon, beaconSchema, FAILURES, type Failure } from './health/healthEvent.ts';
export { canonicalJson } from './model/canonicalJson.ts';
export type { ChannelDocument } from './model/channel.ts';
export type { PageBuild } from './model/set.ts';
export { type PublishedLocal, type PublishLocalOptions, publishLocal } from './operations/publishLocal.ts';
export { bucket, isInCandidate } from './page/bucket.ts';
export { matchRoute } from './page/matchRoute.ts';
export type { PageSet } from './page/pageSet.ts';
export { escapeHtml, jsonForHtml, type PageInput, type RenderedPage, renderPage } from './page/renderPage.ts';
export type { ServedFile } from './serve/buildFiles.ts';
export {
  openReleases,
  type Releases,
  type ReleasesOptions,
  type Visitor,
  type VisitorPage,
} from './serve/openReleases.ts';
