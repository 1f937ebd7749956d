export { createSelector, createSlice, type PayloadAction } from '@reduxjs/toolkit';
export { Provider } from 'react-redux';
export type { LinkProps, Location, NavigateFunction, NavLinkProps, To } from 'react-router-dom';
export {
  Link,
  matchPath,
  Navigate,
  NavLink,
  Outlet,
  Route,
  Router,
  Routes,
  useHref,
  useLocation,
  useNavigate,
  useParams,
  useSearchParams,
} from 'react-router-dom';
// the schemas too, so that the host bundles them once instead of each remote
export {
  type ApiError,
  accountEmailSchema,
  anyPayload,
  type Capability,
  CONSENT_VERSION,
  CONTRACT_VERSION,
  type CursorPage,
  checkInSchema,
  continuedSchema,
  conversationEventSchema,
  conversationSchema,
  cursorPageSchema,
  defineRemote,
  deletionSchema,
  deltaEventSchema,
  endpoints,
  idEventSchema,
  isApiError,
  isBusy,
  isCallMissing,
  latestSchema,
  type MenuMessage,
  type MinorDto,
  messageEventSchema,
  messageSchema,
  minorSchema,
  orderSchema,
  ordersSchema,
  PAGE_ELEMENTS,
  PATIENT,
  type Pace,
  parseJson,
  paths,
  pauseMs,
  type RemoteModule,
  type RouteDefinition,
  readAs,
  type SlotDefinition,
  type Slots,
  STORAGE_KEYS,
  sentSchema,
  singleSchema,
  storySchema,
  suggestionSchema,
  ticketSchema,
  transactionSchema,
  userSchema,
  userSessionSchema,
  waitOf,
} from '../contract';
export { api, infiniteCursorOptions } from './api';
export { problemNoted, toApiError } from './client/errors';
export {
  apiUrl,
  aroundRequests,
  newClientId,
  onMinorModeRefusal,
  prepareClient,
  type RequestOptions,
  request,
} from './client/request';
export { onUnauthenticated } from './client/unauthenticated';
export { copyText, isOnline, share, useHasNetwork, useOnline } from './device';
export {
  capabilities,
  type HostConfig,
  hostConfig,
  type PageInfo,
  pageInfo,
  pageInfoKnown,
  useCapabilitiesAsked,
  useCapability,
} from './hostConfig';
export * from './leaveGuard';
export { type FontSize, type Theme, useFontSize, useTheme } from './preferences';
export { followUser, listen, onCaughtUpNeeded, useRealtimeStatus } from './realtime/realtime';
export type { RealtimeStatus } from './realtime/supervisor';
export { fetchInTurn, retryPolicy } from './retryPolicy';
export * from './screen';
export {
  authPopup,
  type LoginMode,
  requestLogin,
  session,
  useExpiredSession,
  useSession,
  useUser,
} from './session/session';
export type { User } from './session/user';
export { createSignal } from './signal';
export { local, readJson, tab, withLock } from './storage/browserStorage';
export { drafts, onDraftRefused } from './storage/drafts';
export { uncopiedCredentials } from './storage/owner';
export { type Position, positions, type RecentStory, recentStories } from './storage/positions';
export { type OutboxEntry, offlineCache, outboxStore } from './storage/recordStore';
export type { Session } from './store';
export { type AppDispatch, type RootState, rootReducer, store, useDispatch, useSelector } from './store';
export { type Toast, type ToastOptions, toast, useToasts } from './toasts';
