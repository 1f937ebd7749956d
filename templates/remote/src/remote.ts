import { defineRemote } from '@liaozhai/shared/runtime';
import { routes } from './routes';

export default defineRemote({ name: 'sample', routes });
