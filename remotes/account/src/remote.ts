import { defineRemote } from '@liaozhai/shared/runtime';
import { routes, slots } from './routes';

export default defineRemote({ name: 'account', routes, slots });
