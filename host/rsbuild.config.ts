import { hostConfig } from '@liaozhai/shared/build/host';

export default hostConfig();
