import { pageSet } from '../federation';
import { routeTable } from './routeTable';

/** Every screen of this page: the host's own and what the set's remotes declare. */
export const appRoutes = routeTable(pageSet);
