import { remotePlugin } from '@liaozhai/build/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [react(), remotePlugin({ name: 'sample', label: '样例', devPort: 3101 })],
});
