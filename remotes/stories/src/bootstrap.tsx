import { openStandAlone } from '@liaozhai/shared/stand-alone';
import remote from './remote';

openStandAlone(remote);
