export { createEntityAdapter, createSelector, createSlice, type PayloadAction } from '@reduxjs/toolkit';
export { Provider } from 'react-redux';
export {
  Link,
  matchPath,
  Navigate,
  NavLink,
  Route,
  Router,
  Routes,
  useLocation,
  useNavigate,
  useParams,
  useSearchParams,
} from 'react-router-dom';
export { api } from './api';
export { client, type RequestOptions, request } from './client/client';
export { newClientId } from './client/clientId';
export {
  CONTRACT_VERSION,
  defineRemote,
  type RemoteModule,
  type RouteDefinition,
  type SlotDefinition,
} from './contract';
export { type CursorPage, cursorPage, infiniteCursorOptions, toCursorPage, unwrap } from './cursor';
export { copyText, share, useOnline } from './device';
export { type ApiError, isApiError, toApiError } from './errors';
export { holdReload, onReloadHoldsChanged, reloadHolds } from './holdReload';
export { type HostConfig, hostConfig } from './hostConfig';
export { isLeaveGuarded, mayLeave, useLeaveGuard } from './leaveGuard';
export { type PageInfo, pageInfo, pageInfoKnown } from './pageInfo';
export { paths } from './paths';
export { useFontSize, useTheme } from './preferences/preferences';
export { listen, onCaughtUpNeeded, type RealtimeStatus, useRealtimeStatus } from './realtime/realtime';
export { ScreenContext, type ScreenState, useDocumentTitle, useGoBack, useScreen } from './screen';
export { authPopup, type LoginMode, requestLogin } from './session/requestLogin';
export { type Session, session, useSession, useUser } from './session/session';
export type { User, UserDto } from './session/user';
export { RemoteSlot, SlotContext } from './slots';
export { drafts } from './storage/drafts';
export { STORAGE_KEYS } from './storage/keys';
export { type OutboxEntry, outboxStore } from './storage/outboxStore';
export { type Position, positions } from './storage/positions';
export { snapshots } from './storage/snapshots';
export { type AppDispatch, makeStore, type RootState, rootReducer, store, useDispatch, useSelector } from './store';
export { dismissToast, toast, useToasts } from './toasts/toast';
export { onUnauthenticated } from './unauthenticated';
