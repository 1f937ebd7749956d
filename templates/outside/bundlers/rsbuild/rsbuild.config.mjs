import { remoteConfig } from '@liaozhai/build';

export default remoteConfig({ name: 'sample', label: '样例', devPort: 3101 });
