import { createContext, use, useSyncExternalStore } from 'react';
import type { GuardedHistory, Visit } from './guardedHistory';

export const NavigationContext = createContext<GuardedHistory | null>(null);

/** The app's one history. Throws outside of the app. */
export function useNavigation(): GuardedHistory {
  const navigation = use(NavigationContext);
  if (!navigation) throw new Error('useNavigation outside of <App>');
  return navigation;
}

/** Where the app is; renders again with each navigation, so screens don't use it. */
export function useVisit(): Visit {
  const navigation = useNavigation();
  return useSyncExternalStore(navigation.subscribe, navigation.current);
}
