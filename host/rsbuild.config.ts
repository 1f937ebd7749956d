import { hostConfig } from '@liaozhai/shared/build';

export default hostConfig();
