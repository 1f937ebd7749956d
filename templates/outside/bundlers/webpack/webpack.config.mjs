import { browserslist, cssTargets, RemotePlugin } from '@liaozhai/build/plugin';
import ReactRefreshPlugin from '@pmmmwh/react-refresh-webpack-plugin';
import CssMinimizerPlugin from 'css-minimizer-webpack-plugin';
import MiniCssExtractPlugin from 'mini-css-extract-plugin';

// `--env dev=alone` is npm run dev, `--env dev=inside` is npm run dev:inside; without it, a build to be published
export default ({ dev }) => {
  const isAlone = dev === 'alone';
  const compile = (refresh) => ({
    loader: 'swc-loader',
    options: {
      env: { targets: browserslist },
      jsc: {
        parser: { syntax: 'typescript', tsx: true },
        transform: { react: { runtime: 'automatic', development: isAlone, refresh } },
      },
    },
  });
  return {
    mode: isAlone ? 'development' : 'production',
    resolve: { extensions: ['.tsx', '.ts', '.js'] },
    module: {
      rules: [
        { test: /\.[jt]sx?$/, exclude: /node_modules/, use: compile(isAlone) },
        // libraries may publish syntax that is newer than the oldest supported browser
        { test: /\.m?js$/, include: /node_modules/, exclude: /react-refresh|webpack|core-js/, use: compile(false) },
        {
          test: /\.css$/,
          use: [
            MiniCssExtractPlugin.loader,
            { loader: 'css-loader', options: { modules: { auto: true, namedExport: false } } },
          ],
        },
      ],
    },
    plugins: [
      new RemotePlugin({ name: 'sample', label: '样例', devPort: 3101, dev }),
      // with a hash, hot reloading would not replace an edited stylesheet
      new MiniCssExtractPlugin({ chunkFilename: isAlone ? '[name].css' : '[name].[contenthash:8].css' }),
      ...(isAlone ? [new ReactRefreshPlugin({ overlay: false })] : []),
    ],
    optimization: {
      minimizer: [
        '...',
        // also compiles styles for the oldest supported browsers
        new CssMinimizerPlugin({
          minify: CssMinimizerPlugin.lightningCssMinify,
          minimizerOptions: { targets: cssTargets },
        }),
      ],
    },
    performance: { hints: false },
  };
};
