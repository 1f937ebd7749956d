import { remoteConfig } from '@liaozhai/shared/build';

export default remoteConfig('sample');
